import EventStore
import Foundation
import HTTPServer
import NIOCore
import NIOHTTP1
import Synchronization
import TestServer

/// Two servers on one database, each on a fixed port, restarted after every kill.
final class Fleet: Sendable {
    static let secret = "fault-injection"
    /// The server beside the tests, or the one that `FAULT_INJECTION_SERVER` names.
    private static let executable =
        ProcessInfo.processInfo.environment["FAULT_INJECTION_SERVER"].map { URL(fileURLWithPath: $0) } ?? HumonProcess.executable

    struct Response: Sendable {
        var status: Int
        var etag: String?
        /// The log position in `Humon-Position`.
        var position: LogCursor?
        /// The path of the next page.
        var next: String?
        /// The cookie that the response sets, without its attributes.
        var cookie: String?
        var body: String

        /// Compares all but the position, which may be later in a repeated response.
        func isSame(as other: Response) -> Bool { (status, etag, body) == (other.status, other.etag, other.body) }
    }

    /// The client must notice immediately that a node is down.
    private static let connectTimeout = TimeAmount.seconds(2)

    let ports: [Int]
    /// The operators' ports.
    let adminPorts: [Int]
    private let directory: URL
    private let environment: [String: String]
    private let servers = Mutex<[Int: HumonProcess]>([:])

    init(directory: URL, databaseURL: String) throws {
        self.directory = directory
        var environment = ["DATABASE_URL": databaseURL, "TB_APP_SECRET": Self.secret]
        // All clients have one address, and the log must name their requests.
        for limit in ["SIGN_INS", "ACCOUNT_SIGN_INS", "SESSIONS"] { environment["HUMON_\(limit)_PER_MINUTE"] = "0" }
        environment["HUMON_TRUSTED_PROXIES"] = "127.0.0.1"
        self.environment = environment
        let free = try RawConnection.freePorts(4)
        (ports, adminPorts) = (Array(free[..<2]), Array(free[2...]))
    }

    func start() async throws { for node in ports.indices { try await start(node) } }

    /// Starts a server as a supervisor does: repeatedly until it runs, because a server does not start while PostgreSQL is
    /// down.
    func start(_ node: Int) async throws {
        try await wait(for: "server \(node) to start") {
            let own = ["HUMON_PORT": "\(ports[node])", "HUMON_ADMIN_PORT": "\(adminPorts[node])"]
            let server = try HumonProcess(
                ["serve"], in: directory, environment: environment.merging(own) { $1 }, executable: Self.executable)
            servers.withLock { $0[node] = server }
            do {
                _ = try await server.port()
                return true
            } catch is HumonProcess.NotStarted {
                await kill(node)
                return false
            }
        }
    }

    func kill(_ node: Int) async {
        guard let server = servers.withLock({ $0.removeValue(forKey: node) }) else { return }
        server.send(SIGKILL)
        _ = try? await server.untilExit()
    }

    /// - Parameter signal: SIGSTOP, SIGCONT
    func signal(_ signal: Int32, _ node: Int) { servers.withLock { $0[node] }?.send(signal) }

    func close() async { for node in ports.indices { await kill(node) } }

    /// The text that a server has written to standard error since its start.
    func errors(of node: Int) -> String { servers.withLock { $0[node] }?.error ?? "" }

    func awaitRecovery() async throws {
        for node in ports.indices {
            try await wait(for: "server \(node) to be healthy") {
                await (try? send("GET", "/health", to: node, patience: .seconds(5)))?.status == 200
            }
        }
    }

    /// Waits until no server has a request to answer. A server goes on with the command of a client that gave up, so that the log may grow
    /// after the last client ended.
    func awaitIdle() async throws {
        for node in ports.indices {
            try await wait(for: "server \(node) to have no request") {
                try await ask("/metrics", of: node).body.contains("\nhumon_http_requests_in_flight 0\n")
            }
        }
    }

    /// - Parameter patience: the time after which the response counts as lost
    func send(
        _ method: String, _ path: String, to node: Int, headers: [(String, String)] = [], body: String = "", patience: Duration
    ) async throws -> Response {
        try await send(method, path, port: ports[node], headers, body, patience)
    }

    /// Sends a request to the operators' address.
    func ask(_ path: String, of node: Int) async throws -> Response {
        try await send("GET", path, port: adminPorts[node], [], "", .seconds(30))
    }

    private func send(
        _ method: String, _ path: String, port: Int, _ headers: [(String, String)], _ body: String, _ patience: Duration
    ) async throws -> Response {
        let request = OutgoingRequest(
            HTTPMethod(rawValue: method), path, port: port,
            headers: HTTPHeaders([("content-type", "application/json")] + headers), body: ByteBuffer(string: body),
            connectTimeout: Self.connectTimeout)
        let (head, bytes) = try await request.response(within: TimeAmount(patience), bodyLimitBytes: 1 << 20)
        return Response(
            status: Int(head.status.code), etag: head.headers.first(name: "etag"),
            position: head.headers.first(name: "humon-position").flatMap(LogCursor.init),
            next: head.headers.first(name: "link").flatMap { $0.firstMatch(of: /<(.*)>; rel="next"/).map { String($0.1) } },
            cookie: head.headers.first(name: "set-cookie")?.split(separator: ";").first.map(String.init),
            body: String(buffer: bytes))
    }

    /// Sends a request with a response that does not end.
    func stream(_ path: String, from node: Int, _ take: @Sendable (OutgoingRequest.Parts) async throws -> Void) async throws {
        let request = OutgoingRequest(.GET, path, port: ports[node], connectTimeout: Self.connectTimeout)
        try await request.send(take)
    }
}

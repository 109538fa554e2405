public import HTTPServer
public import HTTPTypes
internal import Logging
public import NIOCore
internal import NIOHTTP1
public import ServiceLifecycle

/// How a test's requests reach the router.
public enum TestingSetup: Sendable {
    /// Without a socket.
    case router
    /// Through a server on a port of its own.
    case live
}

public struct TestResponse: Sendable {
    public var status: HTTPResponse.Status
    public var headers: HTTPFields
    public var body: ByteBuffer
}

/// Sends requests to a router, directly or through a server.
public struct TestClient: Sendable {
    private enum Way: Sendable {
        case router(Router)
        case live(port: Int)
    }

    private let way: Way

    /// The port of the server; 0 without one.
    public var port: Int {
        switch way {
        case .router: 0
        case .live(let port): port
        }
    }

    public static func router(_ router: Router) -> TestClient { TestClient(way: .router(router)) }

    fileprivate static func live(port: Int) -> TestClient { TestClient(way: .live(port: port)) }

    public func send(
        _ method: HTTPRequest.Method, _ target: String, headers: HTTPFields = [:], body: ByteBuffer? = nil
    ) async throws -> TestResponse {
        switch way {
        case .router(let router):
            let head = HTTPRequest(method: method, scheme: "http", authority: "localhost", path: target, headerFields: headers)
            var response = await router.respond(to: Request(head: head, body: body ?? ByteBuffer()), from: ConnectionInfo())
            if !response.headers.contains(.contentLength), ![204, 304].contains(response.status.code) {
                response.headers[.contentLength] = String(response.body.readableBytes)
            }
            return TestResponse(status: response.status, headers: response.headers, body: response.body)
        case .live(let port):
            let request = OutgoingRequest(
                HTTPMethod(rawValue: method.rawValue), target, port: port,
                headers: HTTPHeaders(headers.map { ($0.name.rawName, $0.value) }), body: body ?? ByteBuffer())
            let response = try await request.response(within: .seconds(60), bodyLimitBytes: 1 << 26)
            var fields = HTTPFields()
            for (name, value) in response.head.headers {
                if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
            }
            return TestResponse(
                status: HTTPResponse.Status(code: Int(response.head.status.code)), headers: fields, body: response.body)
        }
    }
}

extension Router {
    /// Runs the body with a client of this router.
    /// - Throws: the errors of the body and of the server
    public func test<Value: Sendable>(
        _ setup: TestingSetup,
        _ configuration: ServerConfiguration = ServerConfiguration(host: "127.0.0.1", port: 0),
        _ body: @Sendable @escaping (TestClient) async throws -> Value
    ) async throws -> Value {
        switch setup {
        case .router: try await body(.router(self))
        case .live: try await withServer(configuration) { _, port in try await body(.live(port: port)) }
        }
    }

    /// Runs the body beside a server of this router, and shuts the server down gracefully.
    /// - Throws: the errors of the body and of the server
    public func withServer<Value: Sendable>(
        _ configuration: ServerConfiguration = ServerConfiguration(host: "127.0.0.1", port: 0),
        _ body: @Sendable @escaping (Server, _ port: Int) async throws -> Value
    ) async throws -> Value {
        let ports = AsyncStream.makeStream(of: Int.self)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let server = Server(self, configuration, logger: logger) { ports.continuation.yield($0) }
        return try await withServices([server]) {
            guard let port = await ports.stream.first(where: { _ in true }) else { throw CancellationError() }
            return try await body(server, port)
        }
    }
}

/// Runs services for as long as the body runs, and shuts them down gracefully.
/// - Throws: the errors of the body and of the services
public func withServices<Value: Sendable>(
    _ services: [any Service], _ body: @Sendable @escaping () async throws -> Value
) async throws -> Value {
    var logger = Logger(label: "test")
    logger.logLevel = .critical
    let group = ServiceGroup(configuration: ServiceGroupConfiguration(services: services, logger: logger))
    return try await withThrowingTaskGroup(of: Value?.self) { tasks in
        tasks.addTask {
            try await group.run()
            return nil
        }
        tasks.addTask { try await body() }
        var value: Value?
        // The first to end is either the services, with an error, or the body.
        while let ended = try await tasks.next() {
            guard let ended else { break }
            value = ended
            await group.triggerGracefulShutdown()
        }
        guard let value else { throw CancellationError() }
        return value
    }
}

internal import Foundation

#if canImport(FoundationNetworking)
    internal import FoundationNetworking
#endif

/// Sends requests with token, position, version and key, repeats them, and makes errors of refusals.
final class Requester: Sendable {
    /// A pause between two attempts; tests make it short.
    typealias Sleep = @Sendable (Duration) async throws -> Void

    /// Longest silence in a stream. The server sends a line every 15 seconds.
    private static let streamSilenceSeconds = 45.0
    /// Maximum number of connections for requests, and for streams, which keep theirs over HTTP/1.1.
    private static let (connections, streams) = (6, 16)

    let identity: DeviceIdentity
    let sleep: Sleep
    private let server: URL
    private let retries: RetryPolicy
    private let timeout: Duration
    private let transport = Transport(connections: connections)
    private let streaming = Transport(connections: streams)
    private let position = LastPosition()

    init(_ configuration: HumonAPI.Configuration, sleep: @escaping Sleep) {
        server = configuration.server
        retries = configuration.retries
        timeout = configuration.timeout
        identity = DeviceIdentity(store: configuration.tokens)
        self.sleep = sleep
    }

    /// Sends a request, and repeats it as the policy says.
    /// - Throws: `HumonError`; `CancellationError`; an error of the token store
    @concurrent func send(_ request: Request) async throws -> Response {
        for attempt in 1... {
            do {
                return try await sendOnce(request)
            } catch let error as HumonError {
                // The log may have lost its end, and with it the position. Then a server never reaches it.
                if error.problem?.code == .positionNotReached, attempt > 1 { position.forget() }
                let pause = retries.pause(
                    after: error, attempt: attempt, isRepeatable: request.isRepeatable, chance: .random(in: 0...1))
                guard let pause else { throw error }
                try await sleep(pause)
            }
        }
        throw CancellationError()
    }

    /// Sends a request, and decodes its response.
    /// - Throws: as `send(_:)`; `HumonError.unusableResponse`
    @concurrent func value<Value: Decodable & Sendable>(_ request: Request) async throws -> Value {
        try Self.decoded(Value.self, try await send(request).body)
    }

    /// - Throws: `HumonError.unusableResponse`
    static func decoded<Value: Decodable>(_ type: Value.Type, _ body: Data) throws -> Value {
        do {
            return try JSONDecoder().decode(type, from: body)
        } catch {
            throw HumonError.unusableResponse("\(body.count) bytes are not \(type)")
        }
    }

    // MARK: One attempt

    private func sendOnce(_ request: Request) async throws -> Response {
        let (prepared, token) = try await authenticated(request)
        do {
            return try await sendOnce(request, prepared)
        } catch HumonError.refused(let problem) where problem.status == 401 {
            // Another task or another process of this app may have replaced the token meanwhile.
            guard let token, let present = try await identity.reloadedTokens()?.current, present != token else {
                throw HumonError.refused(problem)
            }
            return try await sendOnce(request, try await authenticated(request).prepared)
        }
    }

    private func sendOnce(_ request: Request, _ prepared: URLRequest) async throws -> Response {
        let before = position.value
        let response = try await transport.response(to: prepared, timeout: timeout)
        if !(request.mayGoOn && response.head.status == 202) { try Self.check(response.head, body: response.body) }
        if request.method != "GET" {
            response.head["humon-position"].map { position.raise(to: Position(rawValue: $0), from: before) }
        }
        return response
    }

    /// Opens a stream, and waits for its header fields.
    /// - Throws: `HumonError`; `CancellationError`; an error of the token store
    func stream(_ request: Request) async throws -> Exchange {
        var (prepared, _) = try await authenticated(request)
        prepared.setValue("text/event-stream, application/problem+json", forHTTPHeaderField: "Accept")
        prepared.timeoutInterval = Self.streamSilenceSeconds
        let exchange = streaming.stream(prepared)
        do {
            let head = try await exchange.response()
            if head.status != 200 {
                var body = Data()
                while let bytes = try await exchange.nextBytes(), body.count < 65_536 { body.append(bytes) }
                try Self.check(head, body: body)
            }
            guard head["content-type"]?.hasPrefix("text/event-stream") == true else {
                throw HumonError.unusableResponse("it is no stream of events")
            }
            return exchange
        } catch {
            exchange.cancel()
            throw error
        }
    }

    /// - Throws: `HumonError` if the status is not 200
    private static func check(_ head: ResponseHead, body: Data) throws {
        guard head.status != 200 else { return }
        throw HumonError.refused(Problem(head, body: body))
    }

    /// The request with its address and header fields, and the token in it.
    private func authenticated(_ request: Request) async throws -> (prepared: URLRequest, token: String?) {
        let base = server.absoluteString
        guard let url = URL(string: (base.hasSuffix("/") ? String(base.dropLast()) : base) + request.address) else {
            throw HumonError.unusableValue("the address of the server")
        }
        var prepared = URLRequest(url: url)
        prepared.httpMethod = request.method
        // The transport's deadline comes first.
        prepared.timeoutInterval = Double(timeout.components.seconds) + 1
        prepared.setValue("application/json, application/problem+json", forHTTPHeaderField: "Accept")
        if let body = request.body {
            prepared.httpBody = body
            prepared.setValue(request.contentType, forHTTPHeaderField: "Content-Type")
        }
        if let key = request.key { prepared.setValue(key.rawValue, forHTTPHeaderField: "Idempotency-Key") }
        if let version = request.ifVersion { prepared.setValue(version.rawValue, forHTTPHeaderField: "If-Match") }
        if request.method == "GET", let position = position.value {
            prepared.setValue(position.rawValue, forHTTPHeaderField: "Humon-Position")
        }
        switch request.identity {
        case .nobody: return (prepared, nil)
        case .newDevice(let secret, let token):
            prepared.setValue(secret, forHTTPHeaderField: "tb-app-secret")
            prepared.setValue(token, forHTTPHeaderField: "tb-device-token")
            return (prepared, nil)
        case .device, .deviceIfSignedUp:
            let token = try await identity.tokens()?.current
            if let token {
                prepared.setValue(token, forHTTPHeaderField: "tb-device-token")
            } else if case .device = request.identity {
                throw HumonError.notSignedUp
            }
            return (prepared, token)
        }
    }
}

/// The position of this client's last write.
///
/// `@unchecked`: the lock protects the position.
private final class LastPosition: @unchecked Sendable {
    private let lock = NSLock()
    private var position: Position?

    var value: Position? { lock.withLock { position } }

    /// - Parameter before: the value before the write. If it still stands the new position is newer, also where the log lost its end and has
    ///   a lower one now
    func raise(to new: Position, from before: Position?) {
        lock.withLock { if position == before || new.number > position?.number ?? 0 { position = new } }
    }

    func forget() { lock.withLock { position = nil } }
}

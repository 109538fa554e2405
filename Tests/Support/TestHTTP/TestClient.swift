internal import AsyncHTTPClient
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
        case live(HTTPClient, port: Int)
    }

    private let way: Way

    /// The port of the server; 0 without one.
    public var port: Int {
        switch way {
        case .router: 0
        case .live(_, let port): port
        }
    }

    public static func router(_ router: Router) -> TestClient { TestClient(way: .router(router)) }

    fileprivate static func live(_ client: HTTPClient, port: Int) -> TestClient { TestClient(way: .live(client, port: port)) }

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
        case .live(let client, let port):
            var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(target)")
            request.method = .RAW(value: method.rawValue)
            for field in headers { request.headers.add(name: field.name.rawName, value: field.value) }
            if let body { request.body = .bytes(body) }
            let response = try await client.execute(request, timeout: .seconds(60))
            var fields = HTTPFields()
            for (name, value) in response.headers {
                if let name = HTTPField.Name(name) { fields.append(HTTPField(name: name, value: value)) }
            }
            return TestResponse(
                status: HTTPResponse.Status(code: Int(response.status.code)), headers: fields,
                body: try await response.body.collect(upTo: 1 << 26))
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
        case .live:
            try await withServer(configuration) { _, port in
                // Unlike the shared client this one does not decompress.
                let client = HTTPClient()
                let result: Result<Value, any Error>
                do { result = .success(try await body(.live(client, port: port))) } catch { result = .failure(error) }
                try await client.shutdown()
                return try result.get()
            }
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

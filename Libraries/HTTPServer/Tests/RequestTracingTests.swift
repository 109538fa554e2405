import HTTPServer
import HTTPTypes
import Synchronization
import TestHTTP
import Testing
import Tracing

@testable import Telemetry

@Suite struct `Tracing requests` {
    private static let routes = [
        Route.immediate(.get, "/tea/{name}") { _, _ in Response(text: "tea") },
        Route.immediate(.get, "/broken") { _, _ in Response(status: .serviceUnavailable) },
    ]

    private static func span(_ path: String, userAgent: String = "tests") async throws -> EndedSpan {
        let spans = Mutex<[EndedSpan]>([])
        let tracer = SpanTracer(ratio: 1) { span in spans.withLock { $0.append(span) } }
        let router = Router(routes: routes, observers: [RequestTracing(tracer)], logger: .silent)
        _ = try await TestClient.router(router).send(.get, path, headers: [.userAgent: userAgent])
        #expect(spans.withLock { $0.count } == 1)
        return try #require(spans.withLock { $0.first })
    }

    @Test func `a request has a span with the name and the path of its route`() async throws {
        let span = try await Self.span("/tea/mate?lat=1")
        #expect(span.name == "GET /tea/{name}")
        #expect(span.attributes.get("http.route") == .string("/tea/{name}"))
        #expect(span.attributes.get("url.path") == .string("/tea/mate"))
        #expect((span.status == nil, span.attributes.get("error.type") == nil) == (true, true))
    }

    @Test func `a status from 500 on is the error of its span`() async throws {
        let span = try await Self.span("/broken")
        #expect(span.status?.code == .error)
        #expect(span.attributes.get("error.type") == .string("503"))
        #expect(try await Self.span("/none").status == nil)
    }

    @Test func `a span has the first 256 characters of the client's name`() async throws {
        let span = try await Self.span("/broken", userAgent: String(repeating: "x", count: 257))
        #expect(span.attributes.get("user_agent.original") == .string(String(repeating: "x", count: 256)))
    }
}

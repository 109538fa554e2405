import HTTPTypes
import NIOCore
import TestHTTP
import TestServer
import Testing

@testable import HTTPServer

@Suite struct `Negotiating problem details` {
    @Test(arguments: [
        "application/problem+json", "Application/Problem+JSON", "application/problem+json; charset=utf-8",
        "application/problem+json;q=0.1", "application/problem+json, */*;q=0.1", "application/problem+json, */*",
        "application/json, application/problem+json", "application/json;q=0.5, application/problem+json;q=0.5",
        "application/json;q=0, application/problem+json;q=0.001", "text/html,application/problem+json",
        " application/problem+json ,",
        "*/*;q=0.9, application/*;q=0.2, application/problem+json;q=0.3",
    ])
    func `a client that names the type and prefers no other gets it`(accept: String) {
        #expect(ProblemDetails.areWanted(accept))
    }

    @Test(arguments: [
        nil, "", "*/*", "application/*", "application/json", "application/json, */*;q=0.1", "text/html,*/*;q=0.8",
        "application/problem+json;q=0", "application/problem+json;q=0.9, application/json",
        "application/problem+json;q=0.9, application/*", "application/problem+json;q=0.9, */*", "application/problem+json;q=x",
        "application/problem+json;q=2", "application/problem+xml", "application/problem", "application/json;q=0, */*", ",,;q=1",
    ])
    func `every other client gets the plain body`(accept: String?) {
        #expect(!ProblemDetails.areWanted(accept))
    }
}

@Suite struct `Problem details on the wire` {
    private struct Failure: Error {}

    private static let asked = "Accept: application/problem+json\r\nX-Request-Id: r-1\r\n"

    /// The response to these bytes on a new connection.
    private static func answer(_ bytes: String, port: Int) async throws -> String {
        let connection = try RawConnection(port: port)
        try connection.send(bytes)
        return try await connection.receive { $0.hasSuffix("}") }.text
    }

    /// Without a prefix for the types of problems, the type is `about:blank` and the title the reason phrase.
    private static func problem(_ status: Int, _ title: String, _ code: String, _ detail: String? = nil) -> String {
        let detail = detail.map { #","detail":"\#($0)""# } ?? ""
        return #"{"type":"about:blank","title":"\#(title)","status":\#(status),"code":"\#(code)"\#(detail),"request_id":"r-1"}"#
    }

    private static func expect(_ answer: String, _ problem: String, _ status: Int) {
        #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
        #expect(answer.hasSuffix("\r\n\r\n" + problem), "\(answer)")
        #expect(answer.lowercased().contains("\r\ncontent-type: application/problem+json\r\n"), "\(answer)")
        #expect(answer.lowercased().contains("\r\nvary: accept\r\n"), "\(answer)")
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n", 400, "Bad Request", "malformed_request", "The request has no Host"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n", 400, "Bad Request", "malformed_request",
            "The request has more than one Host"
        ),
        ("GET / HTTP/1.1\r\nHost: a/b\r\n", 400, "Bad Request", "malformed_request", "Host is not valid"),
        ("GET /nothing HTTP/1.1\r\nHost: a\r\n", 404, "Not Found", "not_found", nil),
        ("DELETE / HTTP/1.1\r\nHost: a\r\n", 405, "Method Not Allowed", "method_not_allowed", nil),
        ("BREW / HTTP/1.1\r\nHost: a\r\n", 501, "Not Implemented", "not_implemented", nil),
        ("GET / HTTP/1.1\r\nHost: a\r\nExpect: tea\r\n", 417, "Expectation Failed", "expectation_failed", nil),
        (
            "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n", 501, "Not Implemented", "not_implemented",
            nil
        ),
    ])
    func `a refused head that could be read gets problem details`(
        head: String, status: Int, title: String, code: String, detail: String?
    ) async throws {
        try await Wire.router.withServer { _, port in
            let answer = try await Self.answer(head + Self.asked + "\r\n", port: port)
            Self.expect(answer, Self.problem(status, title, code, detail), status)
        }
    }

    @Test(arguments: [
        ("NONSENSE\r\n", 400, "The request is not HTTP"), ("GET task HTTP/1.1\r\nHost: a\r\n", 400, "The request is not HTTP"),
        ("GET / HTTP/3.0\r\nHost: a\r\n", 505, "HTTP Version Not Supported"),
        (
            "GET / HTTP/1.1\r\nHost: a\r\n" + String(repeating: "X: y\r\n", count: 101), 431,
            "The request line and the header fields are larger than 32768 bytes"
        ),
    ])
    func `a head that could not be read gets the plain body`(head: String, status: Int, message: String) async throws {
        try await Wire.router.withServer { _, port in
            let answer = try await Self.answer(head + Self.asked + "\r\n", port: port)
            #expect(answer.hasPrefix("HTTP/1.1 \(status) "), "\(answer)")
            #expect(answer.hasSuffix("\r\n\r\n{\"message\":\"\(message)\"}"), "\(answer)")
        }
    }

    @Test func `a target that is too long gets problem details`() async throws {
        let router = Router(routes: Wire.routes, targetLimitBytes: 10, logger: .silent)
        try await router.withServer { _, port in
            let answer = try await Self.answer(Wire.get("/?long-query", Self.asked), port: port)
            let detail = "The path and the query are longer than 10 bytes"
            Self.expect(answer, Self.problem(414, "URI Too Long", "target_too_long", detail), 414)
        }
    }

    @Test func `a body that arrives too slowly gets problem details`() async throws {
        try await Wire.router.withServer(Wire.configuration { $0.limits.arrivalSeconds = 1 }) { _, port in
            let answer = try await Self.answer(
                "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\(Self.asked)\r\nx", port: port)
            let problem = Self.problem(408, "Request Timeout", "request_timeout", "The request did not arrive in time")
            Self.expect(answer, problem, 408)
        }
    }

    @Test func `a request beyond the limit of requests gets problem details`() async throws {
        let configuration = Wire.configuration { $0.inFlight = InFlightRequests(waitingLimit: 0) }
        try await Wire.router.withServer(configuration) { _, port in
            let answer = try await Self.answer(Wire.get("/task", Self.asked), port: port)
            Self.expect(answer, Self.problem(503, "Service Unavailable", "overloaded"), 503)
            #expect(answer.lowercased().contains("\r\nretry-after: 1\r\n"), "\(answer)")
        }
    }

    @Test func `a response beyond the budget of bytes gets problem details`() async throws {
        try await Wire.router.withServer(Wire.configuration { $0.budget = BufferBudget(limitBytes: 0) }) { _, port in
            let answer = try await Self.answer(Wire.get("/large", Self.asked), port: port)
            Self.expect(answer, Self.problem(503, "Service Unavailable", "overloaded"), 503)
            #expect(answer.lowercased().contains("\r\nretry-after: 1\r\n"), "\(answer)")
        }
    }

    @Test func `a response that is not ready in time is replaced by problem details`() async throws {
        let answered = AsyncStream.makeStream(of: Void.self)
        let route = Route(.get, "/slow") { _, _ in
            for await _ in answered.stream {}
            return Response(text: "late")
        }
        let configuration = Wire.configuration { $0.limits.responseSeconds = 1 }
        try await Router(routes: [route], logger: .silent).withServer(configuration) { _, port in
            defer { answered.continuation.finish() }
            let answer = try await Self.answer(Wire.get("/slow", Self.asked), port: port)
            Self.expect(answer, Self.problem(503, "Service Unavailable", "response_timeout"), 503)
        }
    }

    @Test func `an unknown error gets problem details that do not show it`() async throws {
        let route = Route(.get, "/") { _, _ in throw Failure() }
        try await Router(routes: [route], logger: .silent).withServer { _, port in
            let answer = try await Self.answer(Wire.get("/", Self.asked), port: port)
            Self.expect(answer, Self.problem(500, "Internal Server Error", "internal_server_error"), 500)
        }
    }

    @Test func `a prefix makes the type and the title out of the code`() async throws {
        let router = Router(routes: [], problemTypePrefix: "/errors/") { _, _, _ in .internalServerError }
        let head = HTTPRequest(
            method: .get, scheme: nil, authority: nil, path: "/", headerFields: [.accept: "application/problem+json"])
        let response = await router.respond(to: Request(head: head), from: ConnectionInfo())
        #expect(
            String(buffer: response.body).hasPrefix(
                #"{"type":"/errors/not_found","title":"Not found","status":404,"code":"not_found","request_id":""#))
    }
}

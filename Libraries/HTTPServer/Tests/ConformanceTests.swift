import HTTPServer
import HTTPTypes
import TestHTTP
import TestServer
import Testing

/// Bytes on a new connection, and the statuses of all responses to them.
struct WireCase: Sendable, CustomTestStringConvertible {
    var name: String
    /// The rule in RFC 9110 or RFC 9112.
    var rule: String
    var bytes: String
    var statuses: [Int]
    /// Whether the server ends the connection after the last response.
    var ends: Bool

    var testDescription: String { "\(name) (RFC \(rule))" }

    init(_ name: String, _ rule: String, _ bytes: String, _ statuses: [Int], ends: Bool = false) {
        self.name = name
        self.rule = rule
        self.bytes = bytes
        self.statuses = statuses
        self.ends = ends
    }
}

@Suite struct `HTTP conformance on the wire` {
    private static let post = "POST /echo HTTP/1.1\r\nHost: localhost\r\n"

    static let cases: [WireCase] = [
        // Host
        WireCase("no Host", "9112, 3.2", "GET / HTTP/1.1\r\n\r\n", [400], ends: true),
        WireCase("two Hosts", "9112, 3.2", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n", [400], ends: true),
        WireCase("two Hosts in HTTP/1.0", "9112, 3.2", "GET / HTTP/1.0\r\nHost: a\r\nHost: b\r\n\r\n", [400], ends: true),
        WireCase("an empty Host", "9110, 4.2.1", "GET / HTTP/1.1\r\nHost:\r\n\r\n", [400], ends: true),
        WireCase("a Host with a path", "9112, 3.2", "GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", [400], ends: true),
        WireCase("a Host with a space", "9112, 3.2", "GET / HTTP/1.1\r\nHost: a b\r\n\r\n", [400], ends: true),
        WireCase("a Host with user information", "9110, 4.2.4", "GET / HTTP/1.1\r\nHost: u@a\r\n\r\n", [400], ends: true),
        WireCase("a Host with a bad port", "9112, 3.2", "GET / HTTP/1.1\r\nHost: a:8x\r\n\r\n", [400], ends: true),
        WireCase("a Host with a port", "9112, 3.2", "GET / HTTP/1.1\r\nHost: a:8080\r\n\r\n", [200]),
        WireCase("a Host with IPv6", "9112, 3.2", "GET / HTTP/1.1\r\nHost: [2001:db8::1]:80\r\n\r\n", [200]),
        WireCase("a Host with broken IPv6", "9112, 3.2", "GET / HTTP/1.1\r\nHost: [::x]\r\n\r\n", [400], ends: true),
        // Targets
        WireCase("the absolute form", "9112, 3.2.2", "GET http://other/ HTTP/1.1\r\nHost: a\r\n\r\n", [200]),
        WireCase("the absolute form without Host", "9112, 3.2", "GET http://a/ HTTP/1.1\r\n\r\n", [400], ends: true),
        WireCase(
            "the absolute form with a bad host", "9112, 3.2", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n", [400], ends: true),
        WireCase("OPTIONS *", "9110, 9.3.7", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n", [204]),
        WireCase("GET *", "9112, 3.2.4", "GET * HTTP/1.1\r\nHost: a\r\n\r\n", [400], ends: true),
        WireCase("a target without a slash", "9112, 3.2", "GET task HTTP/1.1\r\nHost: a\r\n\r\n", [400], ends: true),
        // Methods
        WireCase("an unknown method", "9110, 9.1", "BREW / HTTP/1.1\r\nHost: a\r\n\r\n", [501], ends: true),
        WireCase("a method that the path lacks", "9110, 15.5.6", "DELETE / HTTP/1.1\r\nHost: a\r\n\r\n", [405]),
        WireCase("TRACE", "9110, 9.3.8", "TRACE / HTTP/1.1\r\nHost: a\r\n\r\n", [405]),
        WireCase("CONNECT", "9110, 9.3.6", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\nx\r\n\r\n", [405], ends: true),
        // Versions
        WireCase("HTTP/1.0", "9112, 9.3", "GET / HTTP/1.0\r\n\r\n", [200], ends: true),
        WireCase("HTTP/1.0 twice", "9112, 9.3", "GET / HTTP/1.0\r\n\r\nGET / HTTP/1.0\r\n\r\n", [200], ends: true),
        WireCase("HTTP/1.0 with keep-alive", "9112, 9.3", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", [200]),
        WireCase(
            "HTTP/1.0 with Transfer-Encoding", "9112, 6.1",
            "POST /echo HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400], ends: true),
        WireCase("HTTP/3.0", "9110, 15.6.6", "GET / HTTP/3.0\r\nHost: a\r\n\r\n", [505], ends: true),
        WireCase("no HTTP", "9112, 3", "NONSENSE\r\n\r\n", [400], ends: true),
        // Connections
        WireCase("two requests", "9112, 9.3", Wire.get("/") + Wire.get("/"), [200, 200]),
        WireCase("Connection: close", "9112, 9.6", Wire.get("/", "Connection: close\r\n") + Wire.get("/"), [200], ends: true),
        WireCase(
            "Upgrade", "9110, 7.8", Wire.get("/", "Connection: Upgrade\r\nUpgrade: websocket\r\n") + "\u{1}", [200], ends: true),
        // Expectations
        WireCase(
            "Expect: 100-continue", "9110, 10.1.1",
            post + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\nhi", [100, 200]),
        WireCase("Expect without a body", "9110, 10.1.1", Wire.get("/", "Expect: 100-continue\r\n"), [200]),
        WireCase(
            "Expect in HTTP/1.0", "9110, 10.1.1",
            "POST /echo HTTP/1.0\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\nhi", [200], ends: true),
        WireCase(
            "an unknown expectation before a chunked body", "9110, 10.1.1",
            post + "Expect: tea\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [417], ends: true),
        WireCase(
            "an unknown expectation after a chunked body's field", "9110, 10.1.1",
            post + "Transfer-Encoding: chunked\r\nExpect: tea\r\n\r\n0\r\n\r\n", [417], ends: true),
        WireCase("an unknown expectation", "9110, 10.1.1", Wire.get("/", "Expect: tea\r\n"), [417], ends: true),
        // Bodies
        WireCase("chunks", "9112, 7.1", post + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n", [200]),
        WireCase(
            "chunks with trailers", "9112, 7.1.2",
            post + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nX: y\r\n\r\n" + Wire.get("/"), [200, 200]),
        WireCase("a broken chunk size", "9112, 7.1", post + "Transfer-Encoding: chunked\r\n\r\nz\r\nhi\r\n", [400], ends: true),
        WireCase(
            "a negative chunk size", "9112, 7.1", post + "Transfer-Encoding: chunked\r\n\r\n-2\r\nhi\r\n", [400], ends: true),
        WireCase(
            "a chunk size of 17 digits", "9112, 7.1",
            post + "Transfer-Encoding: chunked\r\n\r\n10000000000000002\r\nhi\r\n", [400], ends: true),
        WireCase(
            "Content-Length and Transfer-Encoding", "9112, 6.1",
            post + "Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400], ends: true),
        WireCase(
            "an unknown transfer coding", "9112, 6.1",
            post + "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", [501], ends: true),
        WireCase("chunked not last", "9112, 6.3", post + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", [400], ends: true),
        WireCase("chunked twice", "9112, 7.1", post + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", [400], ends: true),
        WireCase(
            "a transfer coding in two fields", "9112, 7.1",
            post + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", [400], ends: true),
        WireCase("two lengths", "9112, 6.3", post + "Content-Length: 2\r\nContent-Length: 3\r\n\r\nhi", [400], ends: true),
        WireCase("a negative length", "9110, 8.6", post + "Content-Length: -2\r\n\r\n", [400], ends: true),
        WireCase("a length with a sign", "9110, 8.6", post + "Content-Length: +2\r\n\r\nhi", [400], ends: true),
        // Fields
        WireCase("an obsolete line folding", "9112, 5.2", Wire.get("/", "X: a\r\n b\r\n"), [400], ends: true),
        WireCase("a space before the colon", "9112, 5.1", Wire.get("/", "X : a\r\n"), [400], ends: true),
        WireCase("an empty field name", "9112, 5", Wire.get("/", ": a\r\n"), [400], ends: true),
        WireCase("a NUL in a field", "9110, 5.5", Wire.get("/", "X: a\u{0}b\r\n"), [400], ends: true),
        WireCase("a lone CR in a field", "9112, 2.2", Wire.get("/", "X: a\rb\r\n"), [400], ends: true),
        WireCase("101 fields", "9110, 5.4", Wire.get("/", String(repeating: "X: y\r\n", count: 101)), [431], ends: true),
        WireCase(
            "fields of 40 KiB", "9110, 5.4",
            Wire.get("/", "X: \(String(repeating: "y", count: 40 * 1024))\r\n"), [431], ends: true),
    ]

    @Test(arguments: cases) func `the server answers as the RFC requires`(_ wire: WireCase) async throws {
        try await Wire.router.withServer { _, port in
            let connection = try RawConnection(port: port)
            // On a connection that stays open the next request gets a response: the server found the end of the previous one.
            try connection.send(wire.bytes + (wire.ends ? "" : Wire.get("/task")))
            let expected = wire.statuses + (wire.ends ? [] : [200])
            let received = try await connection.receive { !wire.ends && $0.hasSuffix("task") }
            #expect(Self.statuses(received.text) == expected, "\(received.text)")
            #expect(received.isEnded == wire.ends, "\(received.text)")
            let isSaid = received.text.lowercased().contains("\r\nconnection: close\r\n")
            #expect(isSaid == wire.ends, "\(received.text)")
        }
    }

    private static func statuses(_ text: String) -> [Int] { text.matches(of: /HTTP\/1\.1 (\d{3})\s/).compactMap { Int($0.1) } }

    @Test func `Expect gets 100 Continue before the body, and HTTP 1.0 gets keep-alive`() async throws {
        try await Wire.router.withServer { _, port in
            let waiting = try RawConnection(port: port)
            try waiting.send(Self.post + "Content-Length: 2\r\nExpect: 100-continue\r\n\r\n")
            #expect(try await waiting.receive { $0.hasSuffix("\r\n\r\n") }.text == "HTTP/1.1 100 Continue\r\n\r\n")
            try waiting.send("hi")
            #expect(try await waiting.receive { $0.hasSuffix("hi") }.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            let old = try RawConnection(port: port)
            try old.send("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")
            let answer = try await old.receive { $0.hasSuffix("small") }
            #expect(answer.text.lowercased().contains("\r\nconnection: keep-alive\r\n") && !answer.isEnded)
        }
    }

    @Test func `a body that is too large is refused before it arrives`() async throws {
        let route = Route(.post, "/") { request, _ in
            let length = request.headers[.contentLength].flatMap(Int.init) ?? 0
            guard length <= 1_000 else { throw HTTPError.contentTooLarge(limitBytes: 1_000) }
            return Response(body: request.body)
        }
        try await Router(routes: [route], logger: .silent).withServer(Wire.configuration { $0.limits.bodyBytes = 1_000 }) {
            _, port in
            let connection = try RawConnection(port: port)
            try connection.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n")
            let answer = try await connection.receive()
            #expect(answer.text.hasPrefix("HTTP/1.1 413 ") && answer.isEnded, "\(answer.text)")
            // The client does not send the body, so the connection cannot go on.
            #expect(answer.text.contains("\r\nConnection: close\r\n"), "\(answer.text)")
        }
    }

    @Test func `OPTIONS * lists the server's methods`() async throws {
        try await Wire.router.withServer { _, port in
            let connection = try RawConnection(port: port)
            try connection.send("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n")
            let answer = try await connection.receive { $0.hasSuffix("\r\n\r\n") }
            #expect(answer.text.contains("\r\nAllow: GET, HEAD, POST, OPTIONS\r\n"), "\(answer.text)")
        }
    }
}

import TestDatabase
import TestServer
import Testing

/// Composing, comparing and hashing such a text sorts its marks, in a time that grows with the square of their number. Each of these
/// requests took between a quarter of a second and more than a second of a processor before its text was bounded.
@Suite struct `Requests with many combining marks` {
    /// Marks of two classes in turn, so that they are out of order.
    private static func marks(_ count: Int) -> String { String(repeating: "\u{301}\u{316}", count: count / 2) }

    private static func head(_ request: String, _ field: String = "Accept: */*", length: Int = 0) -> String {
        "\(request) HTTP/1.1\r\nHost: localhost\r\n\(field)\r\nContent-Type: application/json\r\nContent-Length: \(length)\r\n\r\n"
    }

    private static func post(_ path: String, _ body: String) -> String {
        head("POST \(path)", "tb-device-token: unknown", length: body.utf8.count) + body
    }

    private static let requests: [(name: String, text: String)] = [
        (
            "If-None-Match", head("GET /v1/events/nearests?lat=1&lon=2", "If-None-Match: \(marks(15_000))")
        ),
        ("Cookie", head("GET /v1/events/nearests?lat=1&lon=2", "Cookie: \(marks(15_000))")),
        ("Accept", head("GET /v1/events/7", "Accept: \(marks(15_000))")),
        ("a name in a body", post("/v1/events", "{\"\(marks(32_000))\":1}")),
        ("a token in a body", post("/v1/tasks", "{\"authentication_token\":\"\(marks(32_000))\",\"task\":{\"title\":\"Tea\"}}")),
        (
            "the password of a sign-in",
            post("/v1/users/sign_in", "{\"user\":{\"email\":\"ann@example.org\",\"password\":\"\(marks(32_000))\"}}")
        ),
        (
            "the password of a sign-up",
            post("/v1/users", "{\"user\":{\"email\":\"ann@example.org\",\"password\":\"\(marks(32_000))\"}}")
        ),
    ]

    @Test func `sixty of each kind take no longer than sixty others`() async throws {
        // Without limits of sign-ins, and with one of writes, which looks at the token.
        let environment = [
            "HUMON_SIGN_INS_PER_MINUTE": "0", "HUMON_ACCOUNT_SIGN_INS_PER_MINUTE": "0", "HUMON_WRITES_PER_MINUTE": "1000",
        ]
        try await HumonProcess.withServer(environment: environment) { server, port, _ in
            for (name, request) in Self.requests {
                let before = try server.processorTime()
                for _ in 0..<60 {
                    let connection = try RawConnection(port: port)
                    try connection.send(request)
                    let answer = try await connection.receive { $0.contains("\r\n\r\n") }
                    #expect(answer.text.wholeMatch(of: /HTTP\/1\.1 [24](?s:.*)/) != nil, "\(name): \(answer.text.prefix(200))")
                }
                #expect(try server.processorTime() - before < .seconds(6), "\(name)")
            }
        }
    }
}

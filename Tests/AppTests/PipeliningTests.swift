import TestDatabase
import TestServer
import Testing

@Suite struct `Requests that do not wait for answers` {
    private static func withServer(_ body: @Sendable (HumonProcess, Int) async throws -> Void) async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await HumonProcess.withDirectory { directory in
                let environment = ["DATABASE_URL": database.url, "TB_APP_SECRET": "secret"]
                try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
                    for (path, body) in [
                        ("users", ""), ("events", #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#),
                    ] {
                        let answer = try await exchange(
                            "POST", "http://127.0.0.1:\(port)/v1/\(path)",
                            headers: [
                                ("tb-app-secret", "secret"), ("tb-device-token", "phone"), ("content-type", "application/json"),
                            ], body: body)
                        try #require(answer.status == 200)
                    }
                    try await body(server, port)
                }
            }
        }
    }

    private static func request(_ line: String, _ body: String = "") -> String {
        """
        \(line) HTTP/1.1\r
        Host: humon\r
        tb-device-token: phone\r
        Content-Length: \(body.utf8.count)\r
        \r
        \(body)
        """
    }

    private static let held = request("GET /v1/events/1")
    private static let attendance = request("POST /v1/attendances", #"{"event":{"id":1}}"#)
    private static let unknown = request("GET /v1/events/9")

    @Test func `are answered in their order, those that are answered at once too`() async throws {
        try await Self.withServer { _, port in
            let connection = try RawConnection(port: port)
            let kinds = [(Self.held, "200 OK"), (Self.attendance, "200 OK"), (Self.unknown, "404 Not Found")]
            var generator = SystemRandomNumberGenerator()
            let sent = (0..<60).map { _ in kinds.randomElement(using: &generator) ?? kinds[0] }
            try connection.send(sent.map(\.0).joined())
            let count = sent.count
            let answer = try await connection.receive {
                $0.matches(of: /content-length: \d+/.ignoresCase()).count == count && $0.hasSuffix("}")
            }
            #expect(answer.text.matches(of: /HTTP\/1.1 (\d+ [A-Za-z ]+)\r\n/).map { String($0.1) } == sent.map(\.1))
            #expect(!answer.isEnded)
            let ofEvents = answer.text.matches(of: /\{"address":null|\{\}|\{"message":"Not Found"\}/).map { String($0.0) }
            #expect(
                ofEvents
                    == sent.map {
                        $0.0 == Self.held ? #"{"address":null"# : $0.0 == Self.unknown ? #"{"message":"Not Found"}"# : "{}"
                    })
        }
    }

    @Test func `are not read any more where nobody reads their answers`() async throws {
        try await Self.withServer { _, port in
            let connection = try RawConnection(port: port)
            try connection.send(Self.held)
            let size = try await connection.receive { $0.hasSuffix("}}") }.text.utf8.count
            // Much more than lies in the buffers of both sides.
            let limit = 100_000_000
            let taken = try await connection.sendUntilNoMoreIsTaken(String(repeating: Self.held, count: 1_000), atMost: limit)
            #expect(taken < limit)
            let expected = taken / Self.held.utf8.count * size
            let answers = try await connection.receive(bytes: expected, within: .seconds(60))
            #expect(answers.text.utf8.count == expected && !answers.isEnded)
        }
    }

    @Test func `end with one that says so`() async throws {
        try await Self.withServer { _, port in
            for last in ["GET /v1/events/1", "GET /v1/events/9"] {
                let connection = try RawConnection(port: port)
                let closing = Self.request(last).replacing("Host: humon\r\n", with: "Host: humon\r\nConnection: close\r\n")
                try connection.send(Self.held + closing + Self.held)
                let answer = try await connection.receive()
                #expect(answer.isEnded && answer.text.matches(of: /HTTP\/1.1 \d+/).count == 2, "\(answer.text)")
            }
        }
    }
}

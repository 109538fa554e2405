import Postgres
import TestChance
import TestDatabase
import TestServer
import Testing

@Suite struct `Pipelined requests` {
    private static let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#

    private static func withServer(_ body: @Sendable (HumonProcess, Int, TestDatabase) async throws -> Void) async throws {
        try await HumonProcess.withServer { server, port, database in
            let headers = [
                ("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone"), ("content-type", "application/json"),
            ]
            for (path, body) in [("users", ""), ("events", party)] {
                let url = "http://127.0.0.1:\(port)/v1/\(path)"
                try #require(try await exchange("POST", url, headers: headers, body: body).status == 200)
            }
            try await body(server, port, database)
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

    @Test func `requests in a pipeline get responses in order, immediate ones and those before a half-close too`() async throws {
        try await Self.withServer { _, port, _ in
            let connection = try RawConnection(port: port)
            let kinds = [(Self.held, "200 OK"), (Self.attendance, "200 OK"), (Self.unknown, "404 Not Found")]
            var generator = SeededGenerator(seed: SeededGenerator.seedOfRun)
            let sent = (0..<60).map { _ in kinds.randomElement(using: &generator) ?? kinds[0] } + kinds
            try connection.send(sent.map(\.0).joined())
            connection.endSending()
            let answer = try await connection.receive()
            #expect(answer.text.matches(of: /HTTP\/1.1 (\d+ [A-Za-z ]+)\r\n/).map { String($0.1) } == sent.map(\.1))
            #expect(answer.isEnded)
            let ofEvents = answer.text.matches(of: /\{"address":null|\{\}|\{"message":"Not Found"\}/).map { String($0.0) }
            #expect(
                ofEvents
                    == sent.map {
                        $0.0 == Self.held ? #"{"address":null"# : $0.0 == Self.unknown ? #"{"message":"Not Found"}"# : "{}"
                    })
        }
    }

    @Test func `the server stops reading from a client that reads no responses, which gets all of them later`() async throws {
        try await Self.withServer { _, port, _ in
            let connection = try RawConnection(port: port)
            try connection.send(Self.held)
            let size = try await connection.receive { $0.hasSuffix("}}") }.text.utf8.count
            // Much more than the buffers of both sides hold.
            let limit = 100_000_000
            let taken = try await connection.sendUntilNoMoreIsTaken(String(repeating: Self.held, count: 1_000), atMost: limit)
            #expect(taken < limit)
            let expected = taken / Self.held.utf8.count * size
            let answers = try await connection.receive(bytes: expected, within: .seconds(120))
            #expect(answers.text.utf8.count == expected && !answers.isEnded)
        }
    }

    @Test func `requests before invalid HTTP get responses, and those after the last one are not executed`() async throws {
        try await Self.withServer { _, port, database in
            let connection = try RawConnection(port: port)
            let closing = Self.request("GET /docs").replacing("Host: humon\r\n", with: "Host: humon\r\nConnection: close\r\n")
            try connection.send(Self.attendance + closing + Self.request("POST /v1/events", Self.party))
            let last = try await connection.receive()
            #expect(last.isEnded && last.text.matches(of: /HTTP\/1.1 200 OK/).count == 2)

            let invalid = try RawConnection(port: port)
            try await database.withClient { client in
                let events = try await client.query("SELECT 1 FROM log.recorded_events WHERE type = 'EventCreated'")
                #expect(events.count == 1)
                try await client.withConnection { holder in
                    try await holder.query("BEGIN")
                    try await holder.query("LOCK TABLE log.recorded_events IN ACCESS EXCLUSIVE MODE")
                    try invalid.send(Self.request("POST /v1/events", Self.party) + "?\r\n\r\n")
                    try await Task.sleep(for: .milliseconds(200))
                    try invalid.send("more")
                    try await Task.sleep(for: .milliseconds(200))
                    try await holder.query("ROLLBACK")
                }
            }
            let answer = try await invalid.receive()
            #expect(answer.text.matches(of: /HTTP\/1.1 (\d+)/).map(\.1) == ["200", "400"], "\(answer.text)")
            #expect(answer.text.lowercased().contains("\r\nconnection: close\r\n") && answer.isEnded)
        }
    }
}

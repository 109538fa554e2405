import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `A server that stops` {
    private static let read = "GET /v1/events/nearests?lat=1&lon=2 HTTP/1.1\r\nHost: humon\r\n\r\n"

    /// A request without its body. The server answers `100 Continue` when it has read the head.
    private static func openRequest(_ token: String, bodyLength: Int) -> String {
        """
        POST /v1/attendances HTTP/1.1\r
        Host: humon\r
        tb-device-token: \(token)\r
        Content-Type: application/json\r
        Content-Length: \(bodyLength)\r
        Expect: 100-continue\r
        \r

        """
    }

    private static func isWholeAnswer(_ text: String) -> Bool { text.hasSuffix("No Events Found\"}") }

    @Test func `health says 503 immediately, and requests are served during the drain`() async throws {
        // Longer than the test takes; a second signal ends the drain.
        try await HumonProcess.withServer(environment: ["HUMON_DRAIN_SECONDS": "600"]) { server, port, _ in
            let adminPort = try #require(server.adminPort)
            let known = try RawConnection(port: port)
            try known.send(Self.read)
            #expect(try await known.receive(until: Self.isWholeAnswer).text.contains("200 OK"))
            server.send(SIGTERM)
            var ready = try await exchange("GET", "http://127.0.0.1:\(adminPort)/health/ready", attempts: 1)
            try await eventually("a server that is not ready") {
                ready = try await exchange("GET", "http://127.0.0.1:\(adminPort)/health/ready", attempts: 1)
                return ready.status != 200
            }
            #expect((ready.status, ready.body) == (503, #"{"status":"stopping","database":"unknown","index":"in_use"}"#))
            #expect(try await exchange("GET", "http://127.0.0.1:\(port)/health", attempts: 1).body == ready.body)

            try known.send(Self.read)
            let last = try await known.receive()
            #expect(last.text.contains("200 OK") && Self.isWholeAnswer(last.text))
            #expect(last.text.lowercased().contains("\r\nconnection: close\r\n") && last.isEnded)
            let new = try RawConnection(port: port)
            try new.send(Self.read)
            #expect(try await new.receive().text.contains("200 OK"))
            server.send(SIGTERM)
            #expect(try await server.untilExit() == 128 + SIGTERM)
        }
    }

    @Test func `requests of clients that disconnected are finished`() async throws {
        try await HumonProcess.withServer { server, port, database in
            let headers = [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone")]
            #expect(try await exchange("POST", "http://127.0.0.1:\(port)/v1/users", headers: headers).status == 200)
            let metrics = "http://127.0.0.1:\(try #require(server.adminPort))/metrics"
            try await database.withClient { client in
                try await client.withConnection { connection in
                    // The first table that a command with a key reads.
                    try await connection.query("BEGIN")
                    try await connection.query("LOCK TABLE log.commands IN ACCESS EXCLUSIVE MODE")
                    do {
                        let leaving = try RawConnection(port: port)
                        let body = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
                        try leaving.send(
                            Self.openRequest("phone", bodyLength: body.utf8.count)
                                .replacing("/v1/attendances", with: "/v1/events")
                                .replacing("Host:", with: "Idempotency-Key: party\r\nHost:") + body)
                        try await eventually("the request to be under way") {
                            try await exchange("GET", metrics).body.contains("\nhumon_http_requests_in_flight 1\n")
                        }
                    }
                    server.send(SIGTERM)
                    try await Task.sleep(for: .seconds(1))
                    try await connection.query("ROLLBACK")
                }
                #expect(try await server.untilExit() == 0)
                let events = try await client.query("SELECT 1 FROM log.recorded_events WHERE type = 'EventCreated'")
                #expect(events.count == 1)
                #expect(!server.error.contains("a request failed"), "\(server.error)")
            }
        }
    }
}

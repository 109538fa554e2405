import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `A server with more requests than it may have` {
    /// PostgreSQL must say what became of an event that the index lacks.
    private static let read = "GET /v1/events/1 HTTP/1.1\r\nHost: humon\r\n\r\n"

    private static func isWholeAnswer(_ text: String) -> Bool { text.hasSuffix("}") }

    @Test func `requests above the limit get 503 immediately, and the server recovers`() async throws {
        try await HumonProcess.withServer(environment: ["HUMON_REQUESTS": "2"]) { server, port, database in
            // The open requests wait for the database.
            let busy = [try RawConnection(port: port), try RawConnection(port: port)]
            let refused = try RawConnection(port: port)
            try await database.withClient { client in
                try await client.withConnection { connection in
                    try await connection.query("BEGIN")
                    try await connection.query("LOCK TABLE events_v1.events IN ACCESS EXCLUSIVE MODE")
                    for connection in busy { try connection.send(Self.read) }
                    let operators = "http://127.0.0.1:\(try #require(server.adminPort))"
                    try await eventually("both requests to be under way") {
                        try await exchange("GET", operators + "/metrics").body.contains("\nhumon_http_requests_in_flight 2\n")
                    }
                    try refused.send(Self.read)
                    let answer = try await refused.receive(until: Self.isWholeAnswer)
                    #expect(answer.text.hasPrefix("HTTP/1.1 503 Service Unavailable\r\n") && !answer.isEnded, "\(answer.text)")
                    #expect(answer.text.lowercased().contains("\r\nretry-after: 1\r\n"))
                    #expect(answer.text.hasSuffix(#"{"message":"Service Unavailable"}"#))
                    try refused.send("HEAD /v1/events/1 HTTP/1.1\r\nHost: humon\r\n\r\n")
                    let head = try await refused.receive { $0.hasSuffix("\r\n\r\n") }
                    #expect(head.text.hasPrefix("HTTP/1.1 503 ") && head.text.hasSuffix("\r\n\r\n"), "\(head.text)")
                    // Sign-ups and writes have places of their own.
                    let api = "http://127.0.0.1:\(port)/v1"
                    let signUp = try await exchange(
                        "POST", api + "/users", headers: [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone")])
                    #expect(signUp.status == 200)
                    let rotated = try await exchange("POST", api + "/users/me/token", headers: [("tb-device-token", "phone")])
                    #expect(rotated.status == 200)
                    // The operators' address answers.
                    #expect(try await exchange("GET", "http://127.0.0.1:\(port)/health").status == 200)
                    try await connection.query("ROLLBACK")
                }
            }
            for connection in busy {
                #expect(try await connection.receive(until: Self.isWholeAnswer).text.contains("404 Not Found"))
            }
            let metrics = try await exchange("GET", "http://127.0.0.1:\(try #require(server.adminPort))/metrics").body
            #expect(metrics.contains("\nhumon_http_requests_shed_total 2\n"))
            // The connection with the refused request is still usable.
            try refused.send(Self.read)
            #expect(try await refused.receive(until: Self.isWholeAnswer).text.contains("404 Not Found"))
        }
    }
}

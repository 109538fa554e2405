import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `A client that takes too much` {
    private static let read = "GET /v1/events/nearests?lat=1&lon=2 HTTP/1.1\r\nHost: humon\r\n\r\n"
    private static let slowHead = "GET /v1/events/1 HTTP/1.1\r\nHost: humon\r\nX-Slow: "
    private static let slowBody = """
        POST /v1/attendances HTTP/1.1\r
        Host: humon\r
        tb-device-token: phone\r
        Content-Type: application/json\r
        Content-Length: 18\r
        \r
        {"event":
        """

    private static func isWholeAnswer(_ text: String) -> Bool { text.hasSuffix("}") }

    /// The last response on a connection, with a request id and a body of the API.
    private static func expectRefusal(_ answer: RawConnection.Received, _ status: String, _ message: String) {
        #expect(answer.text.hasPrefix("HTTP/1.1 \(status)\r\n"), "\(answer.text)")
        #expect(answer.text.hasSuffix("\r\n\r\n{\"message\":\"\(message)\"}"), "\(answer.text)")
        for field in ["connection: close", "x-request-id: ", "content-type: application/json", "content-length: "] {
            #expect(answer.text.lowercased().contains("\r\n\(field)"), "\(answer.text)")
        }
        #expect(answer.isEnded)
    }

    @Test func `a client that sends too slowly gets 408 and is closed`() async throws {
        try await HumonProcess.withServer(environment: ["HUMON_ARRIVAL_TIMEOUT_SECONDS": "3"]) { server, port, _ in
            let (silent, head, body) = (
                try RawConnection(port: port), try RawConnection(port: port), try RawConnection(port: port)
            )
            try head.send(Self.slowHead)
            try body.send(Self.slowBody)
            let late = try await silent.receive()
            #expect((late.text, late.isEnded) == ("", true))
            Self.expectRefusal(try await head.receive(), "408 Request Timeout", "The request did not arrive in time")
            Self.expectRefusal(try await body.receive(), "408 Request Timeout", "The request did not arrive in time")
            // Neither a byte now and then nor an earlier request on the connection gives more time.
            let patient = try RawConnection(port: port)
            try patient.send(Self.read)
            _ = try await patient.receive(until: Self.isWholeAnswer)
            try await Task.sleep(for: .milliseconds(3_500))
            try patient.send(Self.slowHead)
            for _ in 0..<8 {
                try await Task.sleep(for: .milliseconds(100))
                // On a busy machine the server may have closed the connection already.
                guard (try? patient.send("x")) != nil else { break }
            }
            Self.expectRefusal(try await patient.receive(), "408 Request Timeout", "The request did not arrive in time")
            #expect(!server.error.contains("a request failed"))
            // Logged like any other response, with its route if it is known.
            let metrics = try await exchange("GET", "http://127.0.0.1:\(try #require(server.adminPort))/metrics").body
            for labels in [
                #"route="/v1/attendances",method="POST",status="408"} 1"#, #"route="unknown",method="unknown",status="408"} 2"#,
            ] {
                #expect(metrics.contains("\nhumon_http_requests_total{\(labels)\n"), "\(labels)")
            }
            #expect(metrics.contains("\nhumon_http_requests_in_flight 0\n"))
        }
    }

    @Test func `a request that is too large gets a response with the limit`() async throws {
        try await HumonProcess.withServer(environment: ["HUMON_URL_LIMIT_BYTES": "1000", "HUMON_HEADER_LIMIT_BYTES": "4000"]) {
            _, port, _ in
            func answer(_ text: String) async throws -> RawConnection.Received {
                let connection = try RawConnection(port: port)
                try connection.send(text)
                return try await connection.receive(until: { $0.hasSuffix("}") && $0.contains("200 OK") })
            }
            let path = "/v1/events/nearests?lat=1&lon=2&x="
            func get(_ target: String, _ field: String = "") -> String { "GET \(target) HTTP/1.1\r\nHost: humon\r\n\(field)\r\n" }
            let fits = path + String(repeating: "x", count: 1_000 - path.utf8.count)
            #expect(try await answer(get(fits)).text.contains("200 OK"))
            let long = try RawConnection(port: port)
            try long.send(get(fits + "x"))
            let refused = try await long.receive(until: Self.isWholeAnswer)
            #expect(refused.text.hasPrefix("HTTP/1.1 414 "))
            #expect(refused.text.hasSuffix(#"{"message":"The path and the query are longer than 1000 bytes"}"#))
            let large = "X-Large: \(String(repeating: "x", count: 4_000))\r\n"
            Self.expectRefusal(
                try await answer(get(path, large)), "431 Request Header Fields Too Large",
                "The request line and the header fields are larger than 4000 bytes")
            Self.expectRefusal(try await answer("NONSENSE\r\n\r\n"), "400 Bad Request", "The request is not HTTP")
            #expect(try await answer(get(path)).text.contains("200 OK"))
        }
    }

    @Test func `requests above the limit get 503 immediately, and the server recovers`() async throws {
        try await HumonProcess.withServer(environment: ["HUMON_REQUESTS": "2", "HUMON_INDEX_MEGABYTES": "0"]) {
            server, port, database in
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
                #expect(try await connection.receive(until: Self.isWholeAnswer).text.contains("200 OK"))
            }
            let metrics = try await exchange("GET", "http://127.0.0.1:\(try #require(server.adminPort))/metrics").body
            #expect(metrics.contains("\nhumon_http_requests_shed_total 2\n"))
            // The connection with the refused request is still usable.
            try refused.send(Self.read)
            #expect(try await refused.receive(until: Self.isWholeAnswer).text.contains("200 OK"))
        }
    }

    @Test func `three hundred slow sockets stop no other client, and are closed`() async throws {
        try await HumonProcess.withServer(environment: ["HUMON_ARRIVAL_TIMEOUT_SECONDS": "5"]) { _, port, _ in
            var slow: [RawConnection] = []
            for number in 0..<300 {
                let connection = try RawConnection(port: port)
                if number % 3 > 0 { try connection.send(number % 3 == 1 ? Self.slowHead : Self.slowBody) }
                slow.append(connection)
            }
            for _ in 0..<20 {
                let client = try RawConnection(port: port)
                try client.send(Self.read)
                #expect(try await client.receive(until: Self.isWholeAnswer).text.contains("200 OK"))
            }
            for connection in slow { #expect(try await connection.receive().isEnded) }
        }
    }
}

import Encoding
import Foundation
import NIOHTTP1
import TestDatabase
import TestExposition
import TestServer
import Testing

@Suite(.directory) struct `A database that is away` {
    @Test func `reads come from the index with their age, writes get 503, and both recover with the database`()
        async throws
    {
        let postgres = try await TestPostgres(in: directory.appending(path: "db").path)
        let environment = ["DATABASE_URL": postgres.url(), "TB_APP_SECRET": HumonProcess.secret]
        try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
            let base = "http://127.0.0.1:\(port)"
            let headers = [
                ("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone"), ("content-type", "application/json"),
            ]
            let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            _ = try await exchange("POST", base + "/v1/users", headers: headers)
            let created = try await exchange("POST", base + "/v1/events", headers: headers, body: party)
            let described = #"\#(party.dropLast()),"description":"Tea"}"#
            let other = try await exchange("POST", base + "/v1/events", headers: headers, body: described)
            let second = other.headers["humon-position"]
            #expect(created.headers["humon-position"].first?.hasPrefix("2.") == true && second.first?.hasPrefix("3.") == true)
            let tag = try #require(try await exchange("GET", base + "/v1/events/2").headers["etag"].first)
            try await postgres.kill()

            let paths = ["/v1/events/1", "/v1/events/nearests?lat=1&lon=2"]
            let fresh = try await exchange("GET", base + paths[0])
            #expect((fresh.status, fresh.headers["humon-position"]) == (200, second))
            try await Task.sleep(for: .seconds(4))
            for path in paths {
                let old = try await exchange("GET", base + path)
                #expect((old.status, old.headers["humon-position"]) == (200, second))
                #expect(try (3...3_600).contains(#require(old.headers["age"].first.flatMap { Int($0) })))
            }
            // An id that the index does not know may exist, and a position that it has not reached cannot be promised.
            let unknown = try await exchange(
                "GET", base + "/v1/events/7", headers: [("accept", "application/problem+json")], attempts: 1)
            #expect(unknown.status == 503 && unknown.body.contains(#""code":"database_unavailable""#), "\(unknown.body)")
            // The index knows the version of an event with a description, and not its words.
            let words = try await exchange(
                "GET", base + "/v1/events/2", headers: [("accept", "application/problem+json")], attempts: 1)
            #expect(words.status == 503 && words.body.contains(#""code":"database_unavailable""#), "\(words.body)")
            #expect(try await exchange("GET", base + "/v1/events/2", headers: [("if-none-match", tag)]).status == 304)
            let early = try await exchange("GET", base + paths[1], headers: [("humon-position", "4")], attempts: 1)
            #expect(early.status == 503)
            #expect(try await exchange("GET", base + paths[1], headers: [("humon-position", second[0])]).status == 200)
            let refused = try await exchange("POST", base + "/v1/events", headers: headers, body: party, attempts: 1)
            #expect((refused.status, refused.headers["retry-after"]) == (503, ["1"]))
            let health = try await exchange("GET", base + "/health")
            #expect(
                (health.status, health.body) == (200, #"{"status":"degraded","database":"away","index":"in_use"}"#))
            let operators = "http://127.0.0.1:\(try #require(server.adminPort))"
            let ready = try await exchange("GET", operators + "/health/ready")
            #expect((ready.status, ready.body) == (health.status, health.body))
            let alive = try await exchange("GET", base + "/health/live")
            #expect((alive.status, alive.body) == (200, #"{"status":"ok"}"#))
            let check = try await exchange("GET", operators + "/index/check", attempts: 1)
            #expect(check.status == 503 && check.body.hasSuffix(#""index":"in_use"}"#), "\(check.body)")
            let metrics = try Exposed(await exchange("GET", operators + "/metrics").body)
            #expect((metrics["humon_index_events"], metrics["humon_postgres_up"]) == (2, 0))
            #expect(metrics["humon_log_position"] == nil)
            #expect(metrics.sum("humon_postgres_connection_failures_total") > 0)

            try await postgres.start()
            let written = try await exchange("POST", base + "/v1/events", headers: headers, body: party)
            let third = written.headers["humon-position"]
            #expect(third.first?.hasPrefix("4.") == true)
            #expect(try await exchange("GET", base + paths[1]).body.contains(written.body.dropFirst().dropLast()))
            try await eventually("a response without an age") {
                let read = try await exchange("GET", base + paths[1])
                return read.headers["humon-position"] == third && read.headers["age"].isEmpty
            }
            #expect(!server.error.contains("phone"))
            try await postgres.stop()
        }
    }
}

@Suite(.directory) struct `A killed private PostgreSQL` {
    @Test func `a killed private PostgreSQL is restarted with all acknowledged writes`() async throws {
        try await HumonProcess.withServer(in: directory, environment: ["TB_APP_SECRET": HumonProcess.secret]) { _, port in
            let url = "http://127.0.0.1:\(port)/v1/users"
            let headers = [("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone")]
            let before = try await exchange("POST", url, headers: headers)
            let file = directory.appending(path: "data/cluster/postmaster.pid")
            let process = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").first.flatMap { Int32($0) }
            kill(try #require(process), SIGKILL)
            let after = try await exchange("POST", url, headers: headers)
            #expect(before.body == #"{"id":1,"device_token":"phone","auth_token":"phone"}"#)
            #expect((after.status, after.body) == (200, before.body), "lost write: the user")
        }
    }
}

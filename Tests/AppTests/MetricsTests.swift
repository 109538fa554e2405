import Foundation
import Postgres
import TestDatabase
import TestExposition
import TestServer
import Testing

@testable import App

@Suite struct `The metrics of a server` {
    /// The metrics that do not change while a server is healthy, with their values.
    private static let steady = [
        "humon_build_info", "humon_changes_first_position", "humon_http_buffer_limit_bytes", "humon_http_connections_limit",
        "humon_http_streams_limit",
        "humon_index_limit_bytes", "humon_index_phase",
        "humon_index_stands_before_unreadable", "humon_postgres_up", "humon_writer_queue_limit",
        "process_max_fds", "process_start_time_seconds", "process_threads", "process_virtual_memory_bytes",
    ]
    /// The metrics that another test changes.
    private static let elsewhere = [
        "humon_http_accept_failures_total", "humon_changes_resets_total", "humon_changes_sent_total", "humon_changes_streams",
        "humon_http_connections", "humon_http_streams",
        "humon_http_streams_ended_total", "humon_http_streams_refused_total",
        "humon_http_buffer_refusals_total", "humon_http_buffered_bytes", "humon_http_requests_shed_total",
        "humon_http_slow_readers_closed_total", "humon_log_lines_dropped_total", "humon_postgres_connection_failures_total",
        "humon_postgres_waiting_callers", "humon_read_model_lag_events",
    ]

    private struct Node: Sendable {
        let base: String
        let operators: String
        let database: TestDatabase

        func scrape() async throws -> Exposed { try Exposed(await exchange("GET", operators + "/metrics").body) }

        /// Waits for the condition.
        func scrape(when condition: (Exposed) -> Bool) async throws -> Exposed {
            var exposed = try await scrape()
            try await eventually("metrics that are as they should be", every: .milliseconds(50)) {
                if condition(exposed) { return true }
                exposed = try await scrape()
                return false
            }
            return exposed
        }

        func send(_ method: String, _ path: String, body: String = "", attempts: Int = 30) async throws -> Int {
            let headers = [
                ("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone"), ("content-type", "application/json"),
            ]
            return try await exchange(method, base + path, headers: headers, body: body, attempts: attempts).status
        }
    }

    private static let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#

    private static func compareWithPage(_ exposed: Exposed) throws {
        let page = try Repository.text("docs/metrics.md")
        let rows = page.matches(of: /\| `([a-z_]+)` \| (\w+) \| (.+?) \| (.+) \|\n/).map { "\($0.1)|\($0.2)|\($0.4)" }
        let told = exposed.metrics.map { "\($0.key)|\($0.value.kind)|\($0.value.help)" }
        #expect(Set(rows) == Set(told) && rows.count == told.count)
        let sample = try #require(exposed.samples.keys.first { $0.hasPrefix("humon_build_info{") })
        #expect(sample.contains(#"version="\#(Version.current)""#))
        let row = try #require(page.firstMatch(of: /\| `humon_build_info` \| gauge \| (.+?) \|/))
        let labels = sample.matches(of: /([a-z_]+)="/).map { String($0.1) }
        #expect(labels.sorted() == row.1.matches(of: /`([a-z_]+)`/).map { String($0.1) }.sorted())
    }

    /// The metrics of a node at the start, while its writer is blocked, and at the end.
    private static func scrapes(_ node: Node) async throws -> [Exposed] {
        let before = try await node.scrape()
        #expect(try await node.send("POST", "/v1/users") == 200)
        #expect(try await node.send("POST", "/v1/events", body: party) == 200)
        for path in ["/v1/events/1", "/v1/events/7", "/v1/events/nearests?lat=1&lon=2"] { _ = try await node.send("GET", path) }
        #expect(try await node.send("GET", "/nowhere/at-all") == 404)
        try await node.database.withClient { client in
            _ = try await client.run([
                "INSERT INTO log.subscriptions VALUES ('feed', 1)",
                "INSERT INTO log.parked_streams VALUES ('feed', 'event-1', 1, 2, 'thirteen', now())",
            ])
        }
        let during = try await whileHeldUp(node) {
            // One connection listens, one tells that the program serves, and one leads the erasure of persons.
            try await node.scrape {
                $0["humon_http_requests_in_flight"] == 6 && $0["humon_writer_queue_length"] ?? 0 > 1
                    && $0[#"humon_postgres_connections{client="readers",state="leased"}"#] == 3
            }
        }
        try await cutOff(node)
        let after = try await node.scrape { exposed in
            ["connections_lost", "connections_opened", "query_failures"].map { "humon_postgres_\($0)_total" }
                .allSatisfy { exposed.sum($0) > during.sum($0) } && exposed["humon_postgres_up"] == 1
                && exposed["humon_http_requests_in_flight"] == 0
        }
        return [before, during, after]
    }

    /// Ends all connections of the server, one of them during a read.
    private static func cutOff(_ node: Node) async throws {
        let read = try await node.database.withClient { client in
            try await client.withTransaction { connection in
                try await connection.query("LOCK TABLE events_v1.events IN ACCESS EXCLUSIVE MODE")
                let read = Task { try await node.send("GET", "/v1/events/9", attempts: 1) }
                let waiting: SQL = "SELECT 1 FROM pg_locks WHERE relation = 'events_v1.events'::regclass AND NOT granted"
                try await eventually("the read to wait for the table") { try await !connection.query(waiting).isEmpty }
                try await connection.query(
                    """
                    SELECT pg_terminate_backend(pid) FROM pg_stat_activity
                    WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
                    """)
                return read
            }
        }
        #expect(try await [404, 503].contains(read.value))
    }

    /// Blocks appends, sends writes one after the other, and then lets them continue.
    private static func whileHeldUp(_ node: Node, _ body: @Sendable () async throws -> Exposed) async throws -> Exposed {
        let (exposed, writes) = try await node.database.whileLogIsLocked {
            var writes: [Task<Int, any Error>] = []
            for _ in 0..<6 {
                writes.append(Task { try await node.send("POST", "/v1/events", body: party) })
                try await Task.sleep(for: .milliseconds(100))
            }
            return (try await body(), writes)
        }
        for write in writes { #expect(try await write.value == 200) }
        return exposed
    }

    @Test func `each metric follows its cause, and docs/metrics.md lists exactly the metrics`() async throws {
        try await HumonProcess.withServer(migrated: true) { server, port, database in
            let operators = "http://127.0.0.1:\(try #require(server.adminPort))"
            let node = Node(base: "http://127.0.0.1:\(port)", operators: operators, database: database)
            let scrapes = try await Self.scrapes(node)
            try Self.compareWithPage(scrapes[0])
            let names = Set(scrapes.flatMap(\.metrics.keys))
            for name in names.subtracting(Self.steady + Self.elsewhere) {
                let told = scrapes.map { exposed in exposed.samples.filter { $0.key.hasPrefix(name) } }
                #expect(Set(told).count > 1, "\(name) is always \(told[0])")
            }
            #expect(names.isSuperset(of: Self.steady + Self.elsewhere))
            let (during, after) = (scrapes[1], scrapes[2])
            #expect(during[#"humon_http_requests_total{route="/v1/events/{id}",method="GET",status="404"}"#] == 1)
            #expect(during[#"humon_http_requests_total{route="unknown",method="unknown",status="404"}"#] == 1)
            // A request that got 503 was repeated.
            func responses(_ route: String) -> Double {
                during.samples.filter { $0.key.hasPrefix(#"humon_http_requests_total{route="\#(route)",method="POST""#) }
                    .values.reduce(0, +)
            }
            #expect(during[#"humon_http_requests_total{route="/v1/users",method="POST",status="200"}"#] == 1)
            #expect(
                during[#"humon_http_request_duration_seconds_count{route="/v1/users",method="POST"}"#] == responses("/v1/users"))
            #expect(
                during[#"humon_http_request_bytes_total{route="/v1/events",method="POST"}"#]
                    == Double(Self.party.utf8.count) * responses("/v1/events"))
            let bytes = during[#"humon_http_response_bytes_total{route="/v1/events",method="POST"}"#] ?? 0
            #expect(responses("/v1/events") == 1 ? bytes == 8 : bytes > 8)
            #expect(during["humon_log_position"] == 2)
            #expect(during[#"humon_subscription_lag_events{subscription="feed"}"#] == 1)
            #expect(during[#"humon_read_model_lag_events{read_model="events_v1"}"#] == 0)
            #expect(after[#"humon_writer_appends_total{outcome="recorded"}"#] == 8)
            // Equal, unless an append failed in a transaction and was repeated.
            let appends = try #require(after["humon_writer_batch_size_sum"])
            #expect(appends >= 8 && appends <= after.sum("humon_writer_appends_total"))
            #expect(after["humon_log_position"] == 8)
            #expect(try #require(after["process_resident_memory_bytes"]) > 1e6)
            #expect(
                try #require(after["process_virtual_memory_bytes"]) > #require(after["process_resident_memory_bytes"]))
            #expect(try (4...1_000).contains(#require(after["process_threads"])))
            #expect(try #require(after["process_open_fds"]) < #require(after["process_max_fds"]))
            let age = Date().timeIntervalSince1970 - (try #require(after["process_start_time_seconds"]))
            #expect((0...3_600).contains(age))
        }
    }
}

import Encoding
import EventStore
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Withdrawing an event` {
    @Test func `a page of a user's events scans the database's index of owners`() async throws {
        try await TestNode.withDatabase { database in
            _ = try await database.withClient { client in
                try await client.query(
                    """
                    INSERT INTO events_v1.events
                    SELECT id, 1, 1 + id % 100, 'Party', NULL, 0, 0, now(), NULL, 0, 1, 0, 0, false, false
                    FROM generate_series(1, 10000) AS id
                    """)
                try await client.query("ANALYZE events_v1.events")
            }
            var configuration = database.configuration(role: "log_app", connections: 1)
            configuration.sessionSettings = ["enable_seqscan": "off"]
            try await withPostgres(configuration, logger: .quiet) { client in
                let query = try OwnEvents(of: .ann, ["limit": "10", "after": "5000"]).query
                let plan = try await client.query("EXPLAIN \(query)").decode(String.self).joined(separator: "\n")
                #expect(plan.contains("events_of_owner"), "\(plan)")
            }
        }
    }
}

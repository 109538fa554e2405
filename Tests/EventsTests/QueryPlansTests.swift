import Encoding
import EventStore
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Plans of the database for events` {
    /// A client of a read model with this number of events in a row of places, without statistics.
    private static func with(
        events: Int64, _ settings: [String: String] = ["enable_seqscan": "off"],
        _ body: @escaping @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        try await TestNode.withDatabase { database in
            var configuration = database.configuration(connections: 1)
            configuration.sessionSettings = settings
            try await withPostgres(configuration, logger: .quiet) { client in
                let details = EventDetails(
                    name: "Party", coordinates: Coordinates(lat: 0, lon: 0), startedAt: Timestamp(milliseconds: 0))
                let rows = (1...events).map { id in
                    var details = details
                    details.coordinates = Coordinates(lat: Double(id % 1_700) / 10 - 85, lon: Double(id % 3_600) / 10 - 180)
                    return EventRow(
                        id: EventID(rawValue: id), version: 1, owner: UserID(rawValue: 1 + id % 100), details: details)
                }
                try await client.withTransaction { _ = try await $0.run(Self.writes(.init(created: rows)).map(\.statement)) }
                try await body(client)
            }
        }
    }

    private static func writes(_ changes: EventsProjection.Changes) -> [Write] {
        EventsProjection().writes(for: changes, in: EventsProjection.schema)
    }

    private static func plan(of query: SQL, _ client: PostgresClient) async throws -> String {
        try await client.query("EXPLAIN \(query)").decode(String.self).joined(separator: "\n")
    }

    @Test func `the events of a person are found by the summaries of their pages`() async throws {
        try await Self.with(events: 10_000) { client in
            let plan = try await Self.plan(of: EventsModule.query(ofOwner: 7), client)
            #expect(plan.contains("Bitmap Index Scan on events_of_owner"), "\(plan)")
        }
    }

    @Test func `a change of an event's place touches no index`() async throws {
        try await Self.with(events: 1_000) { client in
            let changed = EventRow(id: EventID(rawValue: 500), version: 2, details: .concert)
            let hot = try await client.withTransaction { connection in
                _ = try await connection.run(Self.writes(.init(changed: [changed])).map(\.statement))
                return try await connection.query("SELECT pg_stat_get_xact_tuples_hot_updated('events_v1.events'::regclass)")
                    .decode(Int64.self)
            }
            #expect(hot == [1])
        }
    }

    /// With statistics of 60 rows, a hash join that reads all of them looks cheaper than the keys.
    @Test func `the writer's plan of a small table finds the rows of a large one by their keys`() async throws {
        try await Self.with(events: 60, EventLog.sessionSettings) { client in
            try await client.query("ANALYZE events_v1.events")
            let changed = (1...3).map { EventRow(id: EventID(rawValue: $0), version: 2, details: .picnic) }
            let plan = try await Self.plan(of: Self.writes(.init(changed: changed))[0].statement, client)
            #expect(plan.contains("Nested Loop"), "\(plan)")
            #expect(plan.contains("Index Scan using events_pkey"), "\(plan)")
        }
    }
}

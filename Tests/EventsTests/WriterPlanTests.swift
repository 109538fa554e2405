import Encoding
import EventStore
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Changing events by the writer` {
    @Test func `the plan of a small table finds the rows of a large one by their keys`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            var configuration = database.configuration(connections: 1)
            configuration.sessionSettings = EventLog.sessionSettings
            try await withPostgres(configuration, logger: .quiet) { client in
                let schema = EventsProjection.schema
                try await client.withConnection { connection in
                    try await connection.query("CREATE SCHEMA \(identifier: schema)")
                    try await connection.execute(
                        script: EventsProjection.tables(in: schema) + EventsProjection.indexes(in: schema))
                    // With statistics of 60 rows, a hash join that reads all of them looks cheaper than the keys.
                    try await connection.run(writes(.init(created: (1...60).map(row))).map(\.statement))
                    try await connection.query("ANALYZE \(identifier: schema).events")
                }
                let changed = (1...3).map {
                    EventRow(id: EventID(rawValue: $0), version: 2, details: details)
                }
                let update = writes(.init(changed: changed))[0].statement
                let plan = try await client.query("EXPLAIN \(update)").decode(String.self).joined(separator: "\n")
                #expect(plan.contains("Nested Loop"), "\(plan)")
                #expect(plan.contains("Index Scan using events_pkey"), "\(plan)")
            }
        }
    }

    private func writes(_ changes: EventsProjection.Changes) -> [Write] {
        EventsProjection().writes(for: changes, in: EventsProjection.schema)
    }

    private func row(_ id: Int64) -> EventRow {
        EventRow(id: EventID(rawValue: id), version: 1, owner: UserID(rawValue: 1), details: details)
    }

    private var details: EventDetails {
        EventDetails(name: "Party", coordinates: Coordinates(lat: 0, lon: 0), startedAt: Timestamp(milliseconds: 0))
    }
}

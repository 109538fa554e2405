import EventStore
import Postgres
import TestDatabase
import Testing

@Suite struct `Reading with the reader role` {
    @Test func `the reader role can read every table and write none`() async throws {
        try await TestStore.with { store in
            _ = try await store.log.append(.counting("a", after: 0))
            try await store.database.withClient(role: "humon_reader") { client in
                let tables = try await client.query(
                    """
                    SELECT schemaname || '.' || relation FROM (
                        SELECT schemaname, tablename AS relation FROM pg_tables
                        UNION ALL SELECT schemaname, sequencename FROM pg_sequences
                    ) AS relations WHERE schemaname IN ('log', 'humon')
                    """
                ).decode(String.self)
                #expect(tables.count >= 8)
                for table in tables { _ = try await client.query(SQL(unsafeText: "SELECT FROM \(table)")) }
                let writing: [SQL] = [
                    "INSERT INTO log.recorded_events SELECT position + 1, gen_random_uuid(), stream, 2, type, format, recorded_at, data, metadata FROM log.recorded_events",
                    "DELETE FROM log.recorded_events", "UPDATE log.read_models SET position = 0",
                    "DELETE FROM log.follower_leaders",
                    "SELECT nextval('log.event_ids')", "CREATE SCHEMA mine", "DELETE FROM humon.migrations",
                ]
                for statement in writing {
                    let error = await #expect(throws: PostgresError.self) { try await client.query(statement) }
                    #expect(error?.sqlState == .insufficientPrivilege, "\(statement)")
                }
            }
        }
    }
}

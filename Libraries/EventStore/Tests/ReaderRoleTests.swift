import EventStore
import Postgres
import TestDatabase
import Testing

@Suite(.store) struct `Reading with the reader role` {
    @Test func `the reader role can read every table but the pepper, and write none`() async throws {
        _ = try await store.log.record(.counting("a", after: 0))
        try await store.database.withClient(role: "log_reader") { client in
            let tables = try await client.query(
                """
                SELECT schemaname || '.' || relation FROM (
                    SELECT schemaname, tablename AS relation FROM pg_tables
                    UNION ALL SELECT schemaname, sequencename FROM pg_sequences
                ) AS relations WHERE schemaname IN ('log', 'humon') AND relation <> 'pepper'
                """
            ).decode(String.self)
            #expect(tables.count >= 8)
            for table in tables { _ = try await client.query(SQL(unsafeText: "SELECT FROM \(table)")) }
            let writing: [SQL] = [
                "INSERT INTO log.recorded_events SELECT position + 1, gen_random_uuid(), stream, 2, type, format, recorded_at, data, metadata FROM log.recorded_events",
                "DELETE FROM log.recorded_events", "UPDATE log.read_models SET position = 0",
                "DELETE FROM log.subscriptions",
                "SELECT nextval('log.event_ids')", "CREATE SCHEMA mine", "DELETE FROM humon.migrations",
                "SELECT value FROM log.pepper",
                // These append, or take a lock that appends or servers need.
                "SELECT log.lock()", "SELECT log.leave_inline('{sums_v1}')",
                "SELECT log.append('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}')",
                "SELECT log.erase('{counter-a}', 1)",
                "SELECT log.lock_read_models('{sums_v1}')",
            ]
            for statement in writing {
                let error = await #expect(throws: PostgresError.self) { try await client.query(statement) }
                #expect(error?.sqlState == .insufficientPrivilege, "\(statement)")
            }
        }
    }

    @Test func `no query of the reader role on the log holds back an append`() async throws {
        try await store.count(2)
        try await store.database.withClient(role: "log_reader") { client in
            try await client.withTransaction { reader in
                let relations = try await reader.query(
                    "SELECT oid::regclass::text FROM pg_class WHERE relnamespace = 'log'::regnamespace AND relkind IN ('r', 'v') AND relname <> 'pepper'"
                ).decode(String.self)
                #expect(relations.count >= 8)
                for relation in relations { _ = try await reader.query(SQL(unsafeText: "SELECT * FROM \(relation)")) }
                for function in ["tail()", "read_model_positions('{sums_v1}')", "holders('sums_v1')"] {
                    _ = try await reader.query(SQL(unsafeText: "SELECT log.\(function)"))
                }
                let locks = try await reader.query(
                    "SELECT locktype FROM pg_locks WHERE pid = pg_backend_pid() AND locktype = 'advisory'"
                ).decode(String.self)
                #expect(locks == [])
                _ = try await store.log.record(.counting("a", after: 0))
            }
        }
    }
}

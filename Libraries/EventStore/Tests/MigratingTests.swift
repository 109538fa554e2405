import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

/// Runs `db/migrations/0008_inline_read_models.sql` on a database that the previous version has filled.
@Suite struct `Migrating a log with read models` {
    private static let former = Array(Migration.all.prefix(7))

    /// Seven recorded events: the read model is at 5, a read model of another version at 3, and a shadow at 2.
    private static func withFilledDatabase(_ body: @escaping @Sendable (PostgresClient) async throws -> Void) async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await database.withClient(connections: 5) { client in
                _ = try await Migrator(migrations: former, client: client).migrate()
                try await client.withConnection { connection in
                    for (schema, position) in [("sums_v1", 0), ("sums_v0", 3), ("sums_v1_rebuild", 2)] {
                        try await connection.execute(
                            script: """
                                CREATE SCHEMA \(schema); \(SumProjection.tables(in: schema)) \(SumProjection.indexes(in: schema))
                                INSERT INTO log.checkpoints (schema, version, position) VALUES ('\(schema)', 1, \(position));
                                """)
                    }
                    try await connection.query("INSERT INTO log.followers VALUES ('feed', 4, 2, gen_random_uuid(), now())")
                }
                for version: Int32 in 1...7 {
                    try await append(version, readModels: version > 5 ? [] : [SumProjection()], client)
                }
                try await body(client)
            }
        }
    }

    /// Appends the number 1 to a counter, with the function of the log as the previous version called it.
    private static func append(_ version: Int32, readModels: [SumProjection], _ client: PostgresClient) async throws {
        try await client.withTransaction { connection in
            let schemas = readModels.map { _ in SumProjection.schema }
            try await connection.query(
                """
                SELECT log.append(ARRAY[gen_random_uuid()], ARRAY['counter-a'], ARRAY[\(version)], ARRAY['Counted'],
                    ARRAY[1::smallint], ARRAY[now()], ARRAY['{"number":1}'], ARRAY['{"request_id":"x","actor":1,"trace_id":null}'],
                    \(schemas), \(schemas.map { _ in SumProjection.version }))
                """)
            for write in readModels.flatMap({ $0.writes(for: ["a": (1, version)], in: SumProjection.schema) }) {
                try await connection.query(write.statement)
            }
        }
    }

    @Test func `read models keep their positions through the migration, and appends go on`() async throws {
        try await Self.withFilledDatabase { client in
            let before = try await client.query("SELECT schema || ' ' || position FROM log.checkpoints ORDER BY schema")
                .decode(String.self)
            #expect(before == ["sums_v0 3", "sums_v1 5", "sums_v1_rebuild 2"])
            #expect(
                try await Migrator(client: client).migrate()
                    == Migration.all.dropFirst(7).map(\.name) + [Migration.functions.name])
            let after = try await client.query(
                """
                SELECT m.schema || ' ' || p.position FROM log.read_models AS m
                CROSS JOIN LATERAL log.read_model_positions(ARRAY[m.schema]) AS p ORDER BY m.schema
                """
            ).decode(String.self)
            #expect(after == before)
            #expect(try await Subscriptions(client: client).statuses().map { "\($0.name) \($0.position)" } == ["feed 4"])

            let models = ReadModels(projections: [SumProjection()], client: client, logger: .quiet)
            #expect(try await models.list().first?.state == .behind)
            try await TestStore.withLog(client, projections: [SumProjection()]) { log in
                // The read model is first found behind, then in step.
                for number in 7..<10 { _ = try await log.record(.counting("a", after: Int32(number), by: 1)) }
            }
            #expect(
                try await models.list().map { "\($0.schema) \($0.position) \($0.state)" } == [
                    "sums_v1 10 ready", "sums_v0 3 otherVersion", "sums_v1_rebuild 2 interrupted",
                ])
            #expect(try await models.verify { _ in }.map(\.differing) == [0])
        }
    }

    @Test func `the migration names the tables that a rebuild replaced _previous`() async throws {
        try await Self.withFilledDatabase { client in
            try await client.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE SCHEMA sums_v1_before; \(SumProjection.tables(in: "sums_v1_before"))
                        INSERT INTO log.checkpoints (schema, version, position) VALUES ('sums_v1_before', 1, 5);
                        """)
            }
            _ = try await Migrator(client: client).migrate()
            let tables = try await client.query("SELECT schemaname::text FROM pg_tables WHERE schemaname LIKE 'sums%previous'")
            #expect(try tables.decode(String.self) == ["sums_v1_previous"])
            let models = ReadModels(projections: [SumProjection()], client: client, logger: .quiet)
            #expect(try await models.list().contains { "\($0.schema) \($0.position) \($0.state)" == "sums_v1_previous 5 kept" })
        }
    }

    @Test func `the migration forgets replaced tables that a person has dropped`() async throws {
        try await Self.withFilledDatabase { client in
            try await client.query("INSERT INTO log.checkpoints (schema, version, position) VALUES ('sums_v0_before', 1, 5)")
            _ = try await Migrator(client: client).migrate()
            let schemas = try await client.query("SELECT schema FROM log.read_models ORDER BY schema").decode(String.self)
            #expect(schemas == ["sums_v0", "sums_v1", "sums_v1_rebuild"])
        }
    }

    @Test func `appends do not wait while the migration waits for a dump`() async throws {
        try await Self.withFilledDatabase { client in
            let migration = try await client.withTransaction { dump in
                try await dump.query("LOCK TABLE log.checkpoints IN ACCESS SHARE MODE")
                let migration = Task { try await Migrator(client: client).migrate() }
                try await eventually {
                    try await client.query(
                        "SELECT 1::bigint FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
                    ).count == 1
                }
                try await Self.append(8, readModels: [], client)
                return migration
            }
            #expect(try await migration.value.contains("0008_inline_read_models"))
            #expect(try await LogReader(client: client).tail() == 8)
        }
    }
}

@Suite struct `The functions of the log` {
    @Test func `each function of the log stands once in db/functions`() async throws {
        try await TestDatabase.with { database in
            let names = try await database.withClient { client in
                try await client.query(
                    "SELECT proname::text FROM pg_proc WHERE pronamespace = 'log'::regnamespace ORDER BY proname COLLATE \"C\""
                ).decode(String.self)
            }
            let defined = Migration.functions.sql.matches(of: /FUNCTION log\.(\w+)\(/).map { String($0.1) }
            #expect(names == defined.sorted())
        }
    }

    @Test func `a release that changes functions or rights raises their number`() async throws {
        try await TestDatabase.with { database in
            let recorded = try await database.withClient { client in
                try await client.query(
                    "SELECT name || ' ' || left(checksum, 12) FROM humon.migrations WHERE name LIKE 'functions%'"
                )
                .decode(String.self)
            }
            // Before a release change the checksum alone, and after it the number too.
            #expect(recorded == ["functions_0002 6759f174db02"])
        }
    }

    @Test func `humon migrate restores a function that was changed by hand`() async throws {
        try await TestStore.with { store in
            try await store.database.withClient { superuser async throws in
                func tail() async throws -> [Int64] { try await superuser.query("SELECT log.tail()").decode(Int64.self) }
                try await superuser.query(
                    "CREATE OR REPLACE FUNCTION log.tail() RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'")
                #expect(try await tail() == [7])
                #expect(try await Migrator(client: superuser).migrate() == [])
                #expect(try await tail() == [0])
            }
        }
    }

    @Test func `the release before the functions starts on the database, and changes nothing there`() async throws {
        try await TestDatabase.with { database in
            try await database.withClient { client async throws in
                let functions = Migration(name: "functions_0000", sql: "DROP FUNCTION log.append;")
                let older = Migrator(migrations: Array(Migration.all), functions: functions, client: client)
                #expect(try await older.migrate() == [])
                #expect(try await client.query("SELECT FROM pg_proc WHERE proname = 'append'").count == 1)
            }
        }
    }
}

@Suite struct `Vacuuming the append-only tables` {
    @Test func `autovacuum freezes rows of any age, and a number of rows decides when it runs`() async throws {
        try await TestDatabase.with { database in
            for table in ["log.recorded_events", "log.commands"] {
                let options = try await database.withClient { client in
                    try await client.query("SELECT unnest(reloptions) FROM pg_class WHERE oid = \(table)::text::regclass").decode(
                        String.self)
                }
                let expected = [
                    "autovacuum_freeze_min_age=0", "autovacuum_vacuum_insert_scale_factor=0",
                    "autovacuum_vacuum_insert_threshold=200000",
                ]
                #expect(Set(options) == Set(expected), "\(table)")
            }
        }
    }
}

import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

/// A database from before release 1.0.0 has other migrations, and a first one with another text.
@Suite(.emptyDatabase, .directory) struct `A database from before the first release` {
    private static let sentence =
        "Migration 0001_log of this database has another text than that of this program, as in a database from before the first release: nothing was changed. Run the version that made the database. To bring its data over, export them with that version, and import them into a new database with this one."

    /// The catalogue of the database, and its list of migrations.
    private static let contents: SQL = """
        SELECT md5(string_agg(c::text, ',' ORDER BY c::text)) FROM (
            SELECT nspname || relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE nspname NOT LIKE 'pg\\_%' UNION ALL SELECT proname || md5(prosrc) FROM pg_proc
            UNION ALL SELECT to_jsonb(m)::text FROM humon.migrations AS m
        ) AS c
        """

    @Test func `migrate, serve and doctor refuse it with one sentence, and change nothing`() async throws {
        _ = try await database.withClient(connections: 1) { client in
            try await client.run([
                "CREATE SCHEMA humon", "CREATE SCHEMA log", "CREATE TABLE log.recorded_events (position bigint)",
                "CREATE TABLE humon.migrations (name text PRIMARY KEY, checksum text NOT NULL, applied_at timestamptz DEFAULT now())",
                "INSERT INTO humon.migrations VALUES ('0001_log', repeat('a', 64)), ('0002_ids', repeat('b', 64))",
                "GRANT USAGE ON SCHEMA humon, log TO log_reader",
                "GRANT SELECT ON ALL TABLES IN SCHEMA humon, log TO log_reader",
            ])
        }
        let before = try await database.withClient { try await $0.query(Self.contents).decode(String.self) }
        for arguments in [["migrate"], ["migrate", "--check"], ["serve"], ["doctor"]] {
            let result = try await HumonProcess.run(arguments, in: directory, environment: environment)
            #expect(result.status != 0, "\(arguments)")
            #expect((result.output + result.error).contains(Self.sentence), "\(arguments): \(result.output)\(result.error)")
            let after = try await database.withClient { try await $0.query(Self.contents).decode(String.self) }
            #expect(after == before, "\(arguments)")
        }
    }
}

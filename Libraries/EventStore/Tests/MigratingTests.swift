import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `The functions of the log` {
    @Test(.database) func `each function of the log stands once in db/functions`() async throws {
        let names = try await database.withClient { client in
            try await client.query(
                "SELECT proname::text FROM pg_proc WHERE pronamespace = 'log'::regnamespace ORDER BY proname COLLATE \"C\""
            ).decode(String.self)
        }
        let defined = Migration.functions.sql.matches(of: /FUNCTION log\.(\w+)\(/).map { String($0.1) }
        #expect(names == defined.sorted())
    }

    @Test(.database) func `a release that changes functions or rights raises their number`() async throws {
        let recorded = try await database.withClient { client in
            try await client.query("SELECT name || ' ' || left(checksum, 12) FROM humon.migrations WHERE name LIKE 'functions%'")
                .decode(String.self)
        }
        // Before a release change the checksum alone, and after it the number too.
        #expect(recorded == ["functions_0001 03fd9b983084"])
    }

    @Test(.store) func `humon migrate restores a function that was changed by hand`() async throws {
        try await store.database.withClient { superuser async throws in
            func tail() async throws -> [Int64] { try await superuser.query("SELECT log.tail()").decode(Int64.self) }
            try await superuser.query("CREATE OR REPLACE FUNCTION log.tail() RETURNS bigint LANGUAGE sql AS 'SELECT 7::bigint'")
            #expect(try await tail() == [7])
            #expect(try await LogSchema(projections: [], client: superuser).migrate() == [])
            #expect(try await tail() == [0])
        }
    }

}

@Suite(.database) struct `Vacuuming the append-only tables` {
    private static func options(of relation: String, _ database: TestDatabase) async throws -> [String] {
        try await database.withClient { client in
            try await client.query("SELECT unnest(reloptions) FROM pg_class WHERE oid = \(relation)::text::regclass").decode(
                String.self)
        }
    }

    @Test func `autovacuum freezes rows of any age after 200,000 insertions, and it alone writes the summaries of the search`()
        async throws
    {
        let expected: Set = [
            "autovacuum_freeze_min_age=0", "autovacuum_vacuum_insert_scale_factor=0", "autovacuum_vacuum_insert_threshold=200000",
        ]
        for table in ["log.recorded_events", "log.commands"] {
            let options = try await Self.options(of: table, database)
            #expect(Set(options) == expected, "\(table)")
        }
        #expect(try await Self.options(of: "log.recorded_events_search", database).contains("autosummarize=off"))
    }
}

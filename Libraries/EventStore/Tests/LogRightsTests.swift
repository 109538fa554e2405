import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.store) struct `The rights of the application's role on the log` {
    private static func append(_ stream: String) -> SQL {
        """
        SELECT log.append(ARRAY[gen_random_uuid()], ARRAY[\(stream)], ARRAY[1], ARRAY['Counted'], ARRAY[1::smallint], ARRAY[now()],
            ARRAY['{"number":1}'], ARRAY['{"request_id":"x","actor":null,"trace_id":null}'], ARRAY[NULL],
            ARRAY['sums_v1'])
        """
    }

    /// Also an array of ids that begins at another subscript leaves no gap, and a function of the caller does not stand in for one that
    /// log.append uses.
    @Test func `the role records events by log.append alone, at the next position`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await store.client.query(
                """
                INSERT INTO log.recorded_events
                VALUES (9000000, gen_random_uuid(), 'counter-a', 1, 'Counted', 1, now(), '{"number":1}', '{}')
                """)
        }
        #expect(error?.sqlState == .insufficientPrivilege)
        let positions = try await store.client.query(Self.append("counter-a")).decode(Int64.self)
        #expect(positions == [1])
        let subscripted = try await store.client.query(
            """
            SELECT log.append('[9000000:9000000]={00000000-0000-4000-8000-000000000001}', ARRAY['counter-b'], ARRAY[1], ARRAY['Counted'],
                ARRAY[1::smallint], ARRAY[now()], ARRAY['{"number":1}'], ARRAY['{"request_id":"x","actor":null,"trace_id":null}'],
                ARRAY[NULL], ARRAY['sums_v1'])
            """
        ).decode(Int64.self)
        #expect(subscripted == [2])
        try await store.database.withClient { superuser in
            try await superuser.withConnection { connection in
                try await connection.execute(
                    script: """
                        CREATE SCHEMA evil;
                        CREATE FUNCTION evil.cardinality(anyarray) RETURNS integer LANGUAGE plpgsql AS
                            'BEGIN RAISE EXCEPTION ''as %'', current_user; END';
                        GRANT USAGE ON SCHEMA evil TO log_app;
                        """)
            }
        }
        try await store.client.withConnection { connection in
            try await connection.query("SET search_path = evil, pg_catalog")
            let positions = try await connection.query(Self.append("counter-c")).decode(Int64.self)
            #expect(positions == [3])
            try await connection.query("RESET search_path")
        }
        #expect(try await store.reader.tail() == 3)
        let open = try await store.client.query(
            """
            SELECT oid::regprocedure::text FROM pg_proc WHERE pronamespace = 'log'::regnamespace
                AND (proconfig @> ARRAY['search_path=pg_catalog, pg_temp']) IS NOT TRUE
            """
        ).decode(String.self)
        #expect(open == [])
    }

    @Test func `the role stores commands by log.append alone, with the version that the stream has`() async throws {
        let error = await #expect(throws: PostgresError.self) {
            try await store.client.query(
                "INSERT INTO log.commands VALUES (1, sha256('request'), 'person-7')")
        }
        #expect(error?.sqlState == .insufficientPrivilege)
        for version in [1, -1, 0] as [Int32] {
            let ending: SQL = """
                SELECT log.append('{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}', '{}',
                    ended_ids => ARRAY[gen_random_uuid()], ended_request_hashes => ARRAY[sha256('request')],
                    ended_owners => ARRAY['person-7'], unchanged_streams => ARRAY['counter-a'], unchanged_versions => ARRAY[\(version)])
                """
            if version == 0 {
                try await store.client.query(ending)
            } else {
                let error = await #expect(throws: PostgresError.self, "\(version)") { try await store.client.query(ending) }
                #expect(error?.sqlState == SQLState(rawValue: "HU002"), "\(version)")
            }
        }
        let stored = try await store.client.query("SELECT version FROM log.commands").decode(Int32.self)
        #expect(stored == [0])
    }

    @Test func `a migration mends owners and rights, and the check names before what is missing or too much`() async throws {
        try await store.count(3)
        let sums = try await store.sums()
        try await store.database.withClient { superuser in
            try await superuser.run([
                "GRANT SELECT ON log.pepper TO log_reader", "GRANT TRUNCATE ON log.subscriptions TO log_app",
                "GRANT UPDATE ON log.program_formats TO log_reader",
            ])
            let surplus = try await LogRights.violations(superuser, readModels: ["sums_v1"])
            #expect(surplus.map(\.reason).contains("log_reader may SELECT log.pepper"))
            #expect(
                Set(surplus.map(\.statement)) == [
                    "REVOKE SELECT ON log.pepper FROM log_reader, PUBLIC;",
                    "REVOKE TRUNCATE ON log.subscriptions FROM log_app, PUBLIC;",
                    "REVOKE UPDATE ON log.program_formats FROM log_reader, PUBLIC;",
                ])
            for statement in surplus.compactMap(\.statement) { try await superuser.query(SQL(unsafeText: statement)) }
            // A cluster without the roles restores the tables so.
            try await superuser.withConnection { connection in
                try await connection.execute(
                    script: """
                        REVOKE ALL ON SCHEMA sums_v1 FROM log_reader; REVOKE ALL ON ALL TABLES IN SCHEMA sums_v1 FROM log_reader;
                        REVOKE ALL ON sums_v1.sums FROM log_app; GRANT CREATE ON SCHEMA sums_v1 TO log_app;
                        REVOKE USAGE ON SCHEMA log FROM log_app;
                        """)
            }
            let reasons = try await LogRights.violations(superuser, readModels: ["sums_v1"]).map(\.reason)
            #expect(reasons.contains("log_app may not change the read model sums_v1"))
            #expect(reasons.contains("log_app may create objects in the schema sums_v1"))
            #expect(reasons.contains("log_reader may not read the read model sums_v1"))
            #expect(reasons.contains("log_app may not SELECT log.recorded_events"))
            #expect(try await LogSchema(projections: [], client: superuser).migrate() == [])
            let violations = try await LogRights.violations(superuser, readModels: ["sums_v1"])
            #expect(violations == [])
        }
        #expect(try await store.sums() == sums)
        try await store.count(from: 3, 1)
        try await store.models.rebuild { _ in }
    }
}

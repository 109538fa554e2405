import Postgres
import Testing

@Suite struct `Errors of PostgreSQL` {
    @Test(.client(connections: 1))
    func `a refused statement has its SQLSTATE and names its constraint, and the connection stays usable`() async throws {
        let before = try await client.query("SELECT pg_backend_pid()").column(Int32.self)
        try await client.query("CREATE TABLE teas (name text CONSTRAINT one_of_a_name UNIQUE)")
        try await client.query("INSERT INTO teas VALUES ('mate')")
        let states: [(SQL, SQLState)] = [
            ("SELECT * FROM coffees", .undefinedTable),
            ("DO $$ BEGIN RAISE EXCEPTION 'no coffee'; END $$", SQLState(rawValue: "P0001")),
            ("SELEKT 1", SQLState(rawValue: "42601")), ("SELECT 1 / 0", SQLState(rawValue: "22012")),
        ]
        for (statement, state) in states {
            let error = await #expect(throws: PostgresError.self) { try await client.query(statement) }
            #expect(error?.sqlState == state)
            #expect(error?.isUnavailability == false)
        }
        // Errors of a full, busy or stopping database are temporary.
        for state in ["53300", "57P01", "25006", "40001", "55P03"] {
            let busy = SQL(unsafeText: "DO $$ BEGIN RAISE EXCEPTION 'busy' USING ERRCODE = '\(state)'; END $$")
            let error = await #expect(throws: PostgresError.self) { try await client.query(busy) }
            #expect(error?.isUnavailability == true)
        }
        let error = await #expect(throws: PostgresError.self) { try await client.query("INSERT INTO teas VALUES ('mate')") }
        #expect(
            error?.description
                == "PostgreSQL refused the statement: SQLSTATE 23505, schema public, table teas, constraint one_of_a_name")
        #expect(error?.sqlState == .uniqueViolation)
        #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) == before)
    }

    @Test(.client()) func `an error that operators meet says what happened and what helps`() async throws {
        let cases: [(state: String, words: String)] = [
            ("53100", "PostgreSQL refused the statement: SQLSTATE 53100 (the disk of PostgreSQL is full; free space on it)"),
            (
                "57014",
                "PostgreSQL refused the statement: SQLSTATE 57014 (it took longer than its time limit, or somebody cancelled it; look for locks and for load in pg_stat_activity)"
            ),
            (
                "42501",
                "PostgreSQL refused the statement: SQLSTATE 42501 (the role lacks the right for it; give the role this right, or use the role that has it)"
            ),
        ]
        for (state, words) in cases {
            let error = await #expect(throws: PostgresError.self, "\(state)") {
                try await client.query(
                    SQL(unsafeText: "DO $$ BEGIN RAISE EXCEPTION 'a secret' USING ERRCODE = '\(state)'; END $$"))
            }
            #expect(error?.description == words, "\(state)")
        }
    }
}

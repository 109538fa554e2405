import Postgres
import Testing

@Suite struct `Preparing statements` {
    @Test(.client(connections: 1)) func `a statement is prepared once for each connection`() async throws {
        for number in 0..<Int64(5) { try await client.query("SELECT \(number) + 41") }
        let prepared = try await client.query("SELECT statement FROM pg_prepared_statements WHERE statement LIKE '%+ 41'")
        #expect(try prepared.column(String.self) == ["SELECT $1 + 41"])
    }

    @Test func `behind a pooler no statement is prepared, and a session gets no settings`() async throws {
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            ($0.isPooled, $0.sessionSettings) = (true, ["enable_seqscan": "off"])
        }
        try await withClient(connections: 1, configure: configure) { client in
            for number in 0..<Int64(5) { try await client.query("SELECT \(number)") }
            #expect(try await client.query("SELECT count(*) FROM pg_prepared_statements").column(Int64.self) == [0])
            let settings = try await client.query(
                "SELECT current_setting('enable_seqscan'), current_setting('statement_timeout')")
            #expect(try settings.decode((String, String).self)[0] == ("on", "0"))
        }
    }

    @Test(.client(connections: 1)) func `statements beyond the limit run without preparation`() async throws {
        for number in 0..<300 {
            #expect(
                try await client.query(SQL(unsafeText: "SELECT \(number)::text")).column(String.self) == ["\(number)"])
        }
        let prepared = try await client.query("SELECT count(*) FROM pg_prepared_statements").column(Int64.self)
        #expect(prepared == [256])
    }

    @Test(.client(connections: 1))
    func `a statement is prepared again if its pipeline failed before the preparation`() async throws {
        for round in 0..<20 {
            let fresh = SQL(unsafeText: "SELECT 'round \(round)'::text")
            try await withThrowingTaskGroup(of: Void.self) { group async throws in
                group.addTask {
                    let error = await #expect(throws: PostgresError.self) { try await client.run(["SELECT 1 / 0", fresh]) }
                    #expect(error?.sqlState == SQLState(rawValue: "22012"))
                }
                for _ in 0..<5 {
                    group.addTask { () async throws in
                        #expect(try await client.query(fresh).column(String.self) == ["round \(round)"])
                    }
                }
                try await group.waitForAll()
            }
        }
    }
}

import Postgres
import Testing

@Suite struct `Statement time-outs` {
    @Test(.client(connections: 1, configure: { $0.statementTimeoutSeconds = 2 }))
    func `the time of statements ahead in the pipeline does not count`() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The last statement ends after 4 s: later than the 2 s and the second of grace after all were sent.
            for _ in 0..<4 { group.addTask { _ = try await client.query("SELECT pg_sleep(1)") } }
            try await group.waitForAll()
        }
    }

    @Test(.client(connections: 1, configure: { $0.statementTimeoutSeconds = 1 }))
    func `the server ends a statement at its time-out, unless it has none, and the connection stays`() async throws {
        let before = try await client.query("SELECT pg_backend_pid()").column(Int32.self)
        try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in _ = try await connection.query("SELECT pg_sleep(2)") }
        }
        let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT pg_sleep(60)") }
        #expect(error?.sqlState == .queryCanceled)
        #expect(error?.isUnavailability == true)
        #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) == before)
    }
}

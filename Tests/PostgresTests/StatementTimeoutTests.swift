import Postgres
import Testing

@Suite struct `A statement that takes too long` {
    @Test func `is ended by the server, and the connection stays`() async throws {
        try await withClient(connections: 1, configure: { $0.statementTimeoutSeconds = 0.2 }) { client in
            let before = try await client.query("SELECT pg_backend_pid()").column(Int32.self)
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT pg_sleep(60)") }
            #expect(error?.sqlState == .queryCanceled)
            #expect(error?.isUnavailability == true)
            #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) == before)
        }
    }

    @Test func `costs the connection where the server does not end it`() async throws {
        let configure: @Sendable (inout PostgresConfiguration) -> Void = {
            $0.statementTimeoutSeconds = 0.2
            $0.isPooled = true
        }
        try await withClient(connections: 1, configure: configure) { client in
            let before = try await client.query("SELECT pg_backend_pid()").column(Int32.self)
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT pg_sleep(60)") }
            guard case .deadlineExceeded(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
            #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) != before)
        }
    }

    @Test func `is not one that only waited for others on its connection`() async throws {
        try await withClient(connections: 1, configure: { $0.statementTimeoutSeconds = 2 }) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                // The last ends after 4 s: later than the 2 s and the second of grace after all were sent.
                for _ in 0..<4 { group.addTask { _ = try await client.query("SELECT pg_sleep(1)") } }
                try await group.waitForAll()
            }
        }
    }

    @Test func `may do so where the time-out is lifted`() async throws {
        try await withClient(configure: { $0.statementTimeoutSeconds = 0.2 }) { client in
            try await client.withTransaction { connection in
                try await connection.withoutTimeout { connection in _ = try await connection.query("SELECT pg_sleep(1.5)") }
            }
        }
    }

    @Test func `is ended again in the next transaction after one without time-out`() async throws {
        try await withClient(connections: 1, configure: { $0.statementTimeoutSeconds = 0.2 }) { client in
            try await client.withTransaction { connection in
                try await connection.withoutTimeout { connection in _ = try await connection.query("SELECT 1") }
            }
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT pg_sleep(60)") }
            #expect(error?.sqlState == .queryCanceled)
        }
    }
}

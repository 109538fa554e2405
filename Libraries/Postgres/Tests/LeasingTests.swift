import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Leasing a connection` {
    @Test(.client(connections: 2))
    func `a leased connection runs all statements of its lease and none of another caller`() async throws {
        try await client.withConnection { connection in
            let own = try await connection.query("SELECT pg_backend_pid()").column(Int32.self)
            for _ in 0..<10 {
                #expect(try await connection.query("SELECT pg_backend_pid()").column(Int32.self) == own)
                #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) != own)
            }
        }
    }

    @Test func `a lease that is not granted in time is unavailable`() async throws {
        try await withClient(connections: 1, configure: { ($0.acquireTimeoutSeconds, $0.statementTimeoutSeconds) = (3, 0.1) }) {
            client in
            try await client.withConnection { _ in
                let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
                #expect(error?.description == "no connection to PostgreSQL had time for the statement, which was not sent")
            }
        }
    }

    @Test func `a caller waits longer for a leased connection than for one that is not there`() async throws {
        try await withClient(connections: 1, configure: { ($0.acquireTimeoutSeconds, $0.statementTimeoutSeconds) = (0, 60) }) {
            client in
            // Repeats until a connection is open.
            try await eventually("an open connection") { (try? await client.query("SELECT 1")) != nil }
            let asked = try await client.withConnection { _ in
                let asked = Task { try await client.query("SELECT 2::bigint").column(Int64.self) }
                try await eventually("a caller that waits") { client.waitingCallers == 1 }
                return asked
            }
            #expect(try await asked.value == [2])
        }
    }
}

struct NoTea: Error {}

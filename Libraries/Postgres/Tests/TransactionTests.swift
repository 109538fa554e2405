import Postgres
import Testing

@Suite struct `Running a transaction` {
    @Test func `a transaction commits when its body returns, and is rolled back when its body throws`() async throws {
        try await withTeas { client async throws in
            let name = try await client.withTransaction { connection in
                try await connection.query("INSERT INTO teas VALUES ('mate')")
                #expect(try await client.query("SELECT name FROM teas").isEmpty)
                return "mate"
            }
            #expect(try await client.query("SELECT name FROM teas").column(String.self) == [name])
            await #expect(throws: NoTea.self) {
                try await client.withTransaction { connection in
                    try await connection.query("INSERT INTO teas VALUES ('assam')")
                    throw NoTea()
                }
            }
            #expect(try await client.query("SELECT name FROM teas").column(String.self) == [name])
        }
    }

    @Test func `a transaction in which an error went unnoticed throws instead of committing`() async throws {
        try await withTeas { client in
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    try await connection.query("INSERT INTO teas VALUES ('mate')")
                    _ = try? await connection.query("INSERT INTO teas VALUES ('mate')")
                }
            }
            guard case .rolledBack = try #require(error) else { throw try #require(error) }
            #expect(try await client.query("SELECT name FROM teas").isEmpty)
        }
    }

    @Test func `a transaction that fails at its commit throws PostgreSQL's error`() async throws {
        try await withTeas { client in
            try await client.query("ALTER TABLE teas ADD CONSTRAINT late UNIQUE (name) DEFERRABLE INITIALLY DEFERRED")
            try await client.query("ALTER TABLE teas DROP CONSTRAINT teas_name_key")
            let error = await #expect(throws: PostgresError.self) {
                try await client.withTransaction { connection in
                    _ = try await connection.query("INSERT INTO teas VALUES ('mate'), ('mate')")
                }
            }
            #expect(error?.sqlState == .uniqueViolation)
        }
    }

    private func withTeas(_ body: @Sendable (PostgresClient) async throws -> Void) async throws {
        try await withClient(connections: 2) { client in
            try await client.query("CREATE TABLE teas (name text UNIQUE)")
            try await body(client)
        }
    }
}

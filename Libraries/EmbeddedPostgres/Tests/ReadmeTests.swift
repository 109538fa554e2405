import EmbeddedPostgres
import Postgres
import TestDatabase
import Testing

@Suite(.directory()) struct `The example of the embedded PostgreSQL` {
    @Test func `the second run finds the data of the first, and nothing runs after it`() async throws {
        func query(_ statement: SQL) async throws -> [String] {
            try await Laptop.withPostgres(in: directory) { url in
                var configuration = PostgresConfiguration(url: url)
                configuration.connections = 1
                configuration.acquireTimeoutSeconds = 30
                return try await withPostgres(configuration, logger: .quiet) {
                    try await $0.query(statement).decode(String.self)
                }
            }
        }
        _ = try await query("CREATE TABLE teas AS SELECT 'mate'::text AS name")
        #expect(try await query("SELECT name FROM teas") == ["mate"])
        #expect(try await query("SELECT current_setting('shared_buffers')") == ["64MB"])
        #expect(try await EmbeddedCluster.urlOfRunning(.init(directory: directory), logger: .quiet) == nil)
    }
}

import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Closing connections and clients` {
    @Test func `a closing client answers its queued statements, ends its sessions and is unavailable afterwards`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await AdvisoryLock.held(in: database) { lock in
                var configuration = database.configuration()
                // On a busy machine the first statement waits for longer than ten seconds.
                configuration.statementTimeoutSeconds = 120
                let client = PostgresClient(configuration, logger: .quiet)
                let running = Task { await client.run() }
                let waiting = Task { try await client.query("SELECT 'answered'::text FROM pg_advisory_xact_lock_shared(42)") }
                #expect(try await lock.isWaitedFor())
                running.cancel()
                // An earlier statement would be accepted, and wait behind the first one.
                try await eventually("a client that closes") { client.pool.isClosing }
                let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
                #expect(error?.description == "no connection to PostgreSQL: the client is closed")
                try await lock.release()
                #expect(try await waiting.value.column(String.self) == ["answered"])
                await running.value
                await #expect(throws: PostgresError.self) { try await client.withConnection { _ in } }
            }
        }
    }
}

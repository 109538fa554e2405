import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Closing connections and clients` {
    @Test func `a closing connection answers its queued statements and accepts no more`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await AdvisoryLock.held(in: database) { lock in
                let connection = try await ConnectionThread.open(database.configuration())
                let answers = Task {
                    try await withThrowingTaskGroup(of: [Rows].self) { group in
                        let statements: [SQL] = [AdvisoryLock.wait] + (0..<50).map { "SELECT \(Int64($0))" }
                        for statement in statements {
                            group.addTask { try await connection.perform(Job(work: .pipeline([statement]))) }
                        }
                        return try await group.reduce(into: 0) { count, _ in count += 1 }
                    }
                }
                try await eventually("51 jobs on the connection") { connection.load == 51 }
                connection.close()
                let error = await #expect(throws: PostgresError.self) {
                    try await connection.perform(Job(work: .pipeline(["SELECT 1"])))
                }
                guard case .connectionLost(mayHaveRun: false) = try #require(error) else { throw try #require(error) }
                try await lock.release()
                #expect(try await answers.value == 51)
                await withCheckedContinuation { ended in connection.whenEnded { ended.resume() } }
                #expect(connection.load == 0)
            }
        }
    }

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

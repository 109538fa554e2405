import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Cancelling a task` {
    @Test func `a task that is cancelled during its statement returns immediately, and the connection stays usable`() async throws
    {
        try await withClientAndLock(connections: 1) { client, lock in
            let before = try await client.query("SELECT pg_backend_pid()").column(Int32.self)
            let waiting = Task { try await client.query(AdvisoryLock.wait) }
            #expect(try await lock.isWaitedFor())
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            // The task returned while the statement still ran, because other callers may share its pipeline.
            #expect(try await lock.isWaitedFor())
            try await lock.release()
            #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) == before)
        }
    }

    @Test(.client(connections: 1))
    func `a task that is cancelled while it waits for a connection returns immediately`() async throws {
        try await client.withConnection { _ in
            let waiting = Task { try await client.withConnection { _ in } }
            try await Task.sleep(for: .milliseconds(100))
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
        }
        #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
    }

    @Test func `the cancelled statement of a leased connection is cancelled on the server`() async throws {
        try await withClientAndLock(connections: 1) { client, lock async throws in
            let waiting = Task {
                try await client.withConnection { connection in _ = try await connection.query(AdvisoryLock.wait) }
            }
            #expect(try await lock.isWaitedFor())
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            #expect(try await lock.isWaitedFor(by: 0))
            #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
        }
    }

    @Test func `a task cancelled before its turn does not cancel another caller's statement`() async throws {
        try await withClientAndLock(connections: 1) { client, lock in
            let first = Task { try await client.query("SELECT 'first'::text FROM pg_advisory_xact_lock_shared(42)") }
            #expect(try await lock.isWaitedFor())
            let second = Task { try await client.query("SELECT 2") }
            let lease = Task { try await client.withConnection { connection in _ = try await connection.query("SELECT 2") } }
            try await Task.sleep(for: .milliseconds(200))
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            lease.cancel()
            await #expect(throws: CancellationError.self) { try await lease.value }
            // Longer than a cancel request takes to arrive.
            try await Task.sleep(for: .milliseconds(500))
            try await lock.release()
            #expect(try await first.value.column(String.self) == ["first"])
            #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
        }
    }

    @Test(.client(connections: 1)) func `a cancelled transaction is rolled back`() async throws {
        try await client.query("CREATE TABLE teas (name text)")
        let writing = Task {
            try await client.withTransaction { connection in
                try await connection.query("INSERT INTO teas VALUES ('mate')")
                try await Task.sleep(for: .seconds(600))
            }
        }
        try await Task.sleep(for: .milliseconds(200))
        writing.cancel()
        await #expect(throws: CancellationError.self) { try await writing.value }
        #expect(try await client.query("SELECT name FROM teas").isEmpty)
    }
}

import TestDatabase
import Testing

@testable import Postgres

@Suite struct `A task that is cancelled` {
    @Test func `while its statement runs returns at once and leaves the connection usable`() async throws {
        try await withClientAndLock(connections: 1) { client, lock in
            let before = try await client.query("SELECT pg_backend_pid()").column(Int32.self)
            let waiting = Task { try await client.query(AdvisoryLock.wait) }
            #expect(try await lock.isWaitedFor())
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            // It returned while the statement still ran, since others may share its pipeline.
            #expect(try await lock.isWaitedFor())
            try await lock.release()
            #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) == before)
        }
    }

    @Test func `while its statement waits behind another leaves the other alone`() async throws {
        try await withClientAndLock(connections: 1) { client, lock in
            let first = Task { try await client.query("SELECT 'first'::text FROM pg_advisory_xact_lock_shared(42)") }
            #expect(try await lock.isWaitedFor())
            let second = Task { try await client.query("SELECT 2") }
            try await Task.sleep(for: .milliseconds(100))
            second.cancel()
            await #expect(throws: CancellationError.self) { try await second.value }
            try await lock.release()
            #expect(try await first.value.column(String.self) == ["first"])
        }
    }

    @Test func `while it waits for a connection returns at once`() async throws {
        try await withClient(connections: 1) { client in
            try await client.withConnection { _ in
                let waiting = Task { try await client.withConnection { _ in } }
                try await Task.sleep(for: .milliseconds(100))
                waiting.cancel()
                await #expect(throws: CancellationError.self) { try await waiting.value }
            }
            #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
        }
    }

    @Test func `with a connection of its own has the server end the statement`() async throws {
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

    @Test func `before its turn on a connection does not end what others run there`() async throws {
        try await withClientAndLock(connections: 1) { client, lock in
            let first = Task { try await client.query("SELECT 'first'::text FROM pg_advisory_xact_lock_shared(42)") }
            #expect(try await lock.isWaitedFor())
            let lease = Task { try await client.withConnection { connection in _ = try await connection.query("SELECT 2") } }
            try await Task.sleep(for: .milliseconds(200))
            lease.cancel()
            await #expect(throws: CancellationError.self) { try await lease.value }
            // Long enough for a request to cancel to arrive.
            try await Task.sleep(for: .milliseconds(500))
            try await lock.release()
            #expect(try await first.value.column(String.self) == ["first"])
            #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
        }
    }

    @Test func `in a transaction leaves nothing of it`() async throws {
        try await withClient(connections: 1) { client in
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
}

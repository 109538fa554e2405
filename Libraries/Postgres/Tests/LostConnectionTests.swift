import Postgres
import TestDatabase
import Testing

@Suite struct `Losing a connection` {
    @Test(.database) func `an idle connection that is lost is replaced without an error for the next caller`() async throws {
        try await database.withClient(connections: 1) { client in
            try await database.withClient(connections: 1) { administrator in
                for _ in 0..<30 {
                    let pid = try #require(try await client.query("SELECT pg_backend_pid()").column(Int32.self).first)
                    // Returns after the session has ended, and after this many milliseconds at most.
                    try await administrator.query("SELECT pg_terminate_backend(\(pid), 30000)")
                    #expect(try await client.query("SELECT pg_backend_pid()").column(Int32.self) != [pid])
                }
            }
        }
    }

    @Test func `statements in flight on a lost connection fail and are not repeated`() async throws {
        try await withClientAndLock(connections: 1) { client, lock in
            try await client.query("CREATE SEQUENCE runs")
            let statement: SQL = "SELECT nextval('runs') FROM pg_advisory_xact_lock_shared(42)"
            let first: SQL = "SELECT nextval('runs')"
            let running = Task { try await client.run([first, statement]) }
            #expect(try await lock.isWaitedFor())
            try await lock.terminateWaiting()
            let error = await #expect(throws: PostgresError.self) { try await running.value }
            guard case .connectionLost(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
            #expect(error?.isUnavailability == true)
            #expect(try await client.query("SELECT last_value FROM runs").column(Int64.self) == [1])
        }
    }

    @Test(.client()) func `a COPY on a lost connection reports the loss`() async throws {
        try await client.query("CREATE TABLE numbers (n bigint)")
        let error = await #expect(throws: PostgresError.self) {
            try await client.withConnection { connection in
                try await connection.copyOut(
                    "COPY (SELECT pg_terminate_backend(pg_backend_pid()) FROM generate_series(1, 10)) TO STDOUT"
                ) { _ in }
            }
        }
        guard case .connectionLost(mayHaveRun: true) = try #require(error) else { throw try #require(error) }
        #expect(try await client.query("SELECT 'usable'::text").column(String.self) == ["usable"])
    }
}

extension AdvisoryLock {
    /// Terminates the sessions that wait for the lock.
    fileprivate func terminateWaiting() async throws {
        try await administer(
            """
            SELECT pg_terminate_backend(pid, 30000) FROM pg_locks JOIN pg_database AS d ON d.oid = database
            WHERE d.datname = current_database() AND locktype = 'advisory' AND NOT granted
            """)
    }
}

import Postgres
import TestDatabase
import Testing

@testable import EventStore

@Suite(.database) struct `Watching the log's lock` {
    /// Runs the body while a watch runs.
    private static func watching(
        _ database: TestDatabase, _ body: @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        var configuration = database.configuration(role: "log_app", connections: 3)
        configuration.applicationName = "humon watching:1"
        try await withPostgres(configuration, logger: .quiet) { client in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await LogLockWatch(client: client, logger: .quiet).run() }
                defer { group.cancelAll() }
                try await body(client)
            }
        }
    }

    /// A client whose session has the name of a node that is about to freeze.
    private static func withFrozen(
        _ database: TestDatabase, _ body: @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        var configuration = database.configuration(role: "log_app", connections: 2)
        configuration.applicationName = "humon frozen:2"
        try await withPostgres(configuration, logger: .quiet, body)
    }

    @Test func `a session that holds the lock and whose client is silent is ended, and others append`() async throws {
        try await Self.withFrozen(database) { frozen in
            await #expect(throws: PostgresError.self) {
                try await frozen.withTransaction { connection in
                    try await connection.query("SELECT log.lock()")
                    try await database.withClient(role: "log_app", connections: 3) { client in
                        try await TestStore.withLog(client, projections: []) { log in
                            let append = Task { try await log.record(.counting("a", after: 0)) }
                            // Before the watch runs, which ends the session.
                            try await eventually("the holder to be named") {
                                let holders = try await LogLock(client: client).holders()
                                guard let holder = holders.first else { return false }
                                #expect(holder.name == "humon frozen:2")
                                #expect(holder.waiting == 1)
                                #expect(holder.silentSince != nil)
                                #expect(holder.beganAt != nil)
                                return true
                            }
                            try await Self.watching(database) { _ in
                                // The lock is still held by this transaction: the session was ended.
                                let recorded = try await append.value
                                #expect(recorded.position == 1)
                            }
                        }
                    }
                }
            }
        }
    }

    @Test func `a silent session is ended if the holder of the lock waits for another lock of it`() async throws {
        try await Self.withFrozen(database) { frozen in
            await #expect(throws: PostgresError.self) {
                try await frozen.withTransaction { connection in
                    try await connection.query("SELECT pg_advisory_xact_lock(42)")
                    try await Self.watching(database) { client in
                        let holding = Task {
                            try await client.run(["SELECT log.lock()", "SELECT pg_advisory_xact_lock(42)"])
                        }
                        try await eventually("the holder to wait") {
                            try await connection.query(
                                """
                                SELECT FROM pg_locks JOIN pg_database AS d ON d.oid = database
                                WHERE d.datname = current_database() AND objid = 42 AND NOT granted
                                """
                            ).count == 1
                        }
                        let waiting = Task { try await client.query("SELECT log.lock()") }
                        _ = try await holding.value
                        _ = try await waiting.value
                    }
                }
            }
        }
    }

    @Test func `a session that holds the lock and works is left alone`() async throws {
        try await Self.watching(database) { client in
            // A client of its own: a query of the first can wait behind the one that waits for the lock.
            let waiting = try await database.withClient(role: "log_app", connections: 1) { other in
                try await database.whileLogIsLocked {
                    // While no session waits, nobody is named.
                    #expect(try await LogLock(client: other).holders() == [])
                    let waiting = Task { try await client.query("SELECT log.lock()") }
                    try await eventually("a waiting session") { try await !LogLock(client: other).holders().isEmpty }
                    // The watch looks several times, and for longer than its patience.
                    try await Task.sleep(for: .seconds(LogLockWatch.patienceSeconds * 2))
                    #expect(try await LogLock(client: other).holders().map(\.silentSince) == [nil])
                    return waiting
                }
            }
            _ = try await waiting.value
        }
    }

    @Test(arguments: ["recorded_events", "append_lock"])
    func `a silent session with another lock is left alone while no session waits behind an append`(table: String) async throws {
        try await Self.watching(database) { client in
            let append = try await database.withClient { locking in
                try await locking.withTransaction { connection in
                    try await connection.query(SQL(unsafeText: "LOCK TABLE log.\(table) IN ACCESS EXCLUSIVE MODE"))
                    let append = Task {
                        try await client.withTransaction { connection in
                            try await connection.query("SELECT log.lock()")
                            try await connection.query("SELECT FROM log.recorded_events LIMIT 0")
                        }
                    }
                    try await database.withClient(connections: 1) { other in
                        try await eventually("a wait that is longer than the patience of the watch") {
                            let silent = try await LogLock(client: other).holders().filter { $0.silentSince != nil }
                            return silent.contains { $0.waitedSeconds > LogLockWatch.patienceSeconds * 2 }
                        }
                    }
                    // The session was not ended.
                    try await connection.query("SELECT 1")
                    return append
                }
            }
            try await append.value
        }
    }
}

import Postgres
import TestDatabase

/// Holds an advisory lock in a session of its own while the body runs, so that tests decide when a statement ends.
struct AdvisoryLock: Sendable {
    static let number: Int64 = 42

    /// Waits until the lock is free.
    static let wait: SQL = "SELECT pg_advisory_xact_lock_shared(42)"

    private let client: PostgresClient
    private let holder: LeasedConnection

    func release() async throws { try await holder.query("SELECT pg_advisory_unlock(42)") }

    /// Runs a statement in a session that does not wait for the lock.
    func administer(_ statement: SQL) async throws { try await client.query(statement) }

    /// Whether `count` sessions wait for the lock, now or within a minute.
    func isWaitedFor(by sessions: Int64 = 1) async throws -> Bool {
        do {
            try await eventually { try await client.waiters(forLock: Self.number) == sessions }
            return true
        } catch is TimeoutError {
            return false
        }
    }

    static func held<Value: Sendable>(
        in database: TestDatabase, _ body: @Sendable (AdvisoryLock) async throws -> Value
    ) async throws -> Value {
        try await database.withClient { client in
            try await client.withConnection { connection in
                try await connection.query("SELECT pg_advisory_lock(42)")
                return try await body(AdvisoryLock(client: client, holder: connection))
            }
        }
    }
}

/// A client of an empty database, and the lock that its statements can wait for.
func withClientAndLock(
    connections: Int, _ body: @escaping @Sendable (PostgresClient, AdvisoryLock) async throws -> Void
) async throws {
    try await TestDatabase.with(migrated: false) { database in
        try await AdvisoryLock.held(in: database) { lock in
            try await database.withClient(connections: connections) { client in try await body(client, lock) }
        }
    }
}

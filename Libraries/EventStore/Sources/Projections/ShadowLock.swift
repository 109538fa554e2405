internal import Postgres

/// The right of one process to fill some shadows: an advisory lock of PostgreSQL for each. The locks end with the connection of the
/// process, and when the process was silent for ``seconds``, as on a machine that froze.
struct ShadowLock: Sendable {
    static let seconds = 30.0

    /// Sorted.
    let schemas: [String]
    /// The process of PostgreSQL that holds the locks.
    private let session: Int32

    /// Calls a closure with the locks. They belong to a transaction, also because of poolers; each pulse gives it a new snapshot.
    /// - Throws: ``ReadModelError/underWay(_:)`` if another process has one of them, ``ReadModelError/aborted(_:)`` if they were lost, the
    ///   error of the closure
    static func with<Value: Sendable>(
        _ schemas: [String], client: PostgresClient, _ body: @Sendable @escaping (ShadowLock) async throws -> Value
    ) async throws -> Value {
        try await client.withConnection { connection in
            try await connection.query("BEGIN")
            let session = try await begin(on: connection, statementSeconds: client.configuration.statementTimeoutSeconds)
            let lock = ShadowLock(schemas: schemas.sorted(), session: session)
            for schema in lock.schemas { try await claim(schema, on: connection) }
            let value = try await withThrowingTaskGroup(of: Value?.self) { group in
                group.addTask {
                    while true {
                        try await Task.sleep(for: .seconds(seconds / 4))
                        do { try await connection.query("SELECT 1") } catch is PostgresError {
                            throw ReadModelError.aborted(lock.schemas[0])
                        }
                    }
                }
                group.addTask { try await body(lock) }
                defer { group.cancelAll() }
                while let ended = try await group.next() { if let value = ended { return value } }
                throw CancellationError()
            }
            // The work is done, whether or not the connection is still there.
            _ = try? await connection.query("COMMIT")
            return value
        }
    }

    /// How long another process that wants the locks waits for one that is just ending.
    private static let waitSeconds = 7.5

    /// - Parameter statementSeconds: the limit of a statement; that of a lock is shorter, so the error says that a lock was missing
    private static func begin(on connection: LeasedConnection, statementSeconds: Double) async throws -> Int32 {
        try await connection.run([
            "SELECT set_config('idle_in_transaction_session_timeout', \(String(Int(seconds * 1_000))), true)",
            "SELECT set_config('lock_timeout', \(String(Int(min(waitSeconds, statementSeconds * 0.9) * 1_000))), true)",
            "SELECT pg_backend_pid()",
        ])[2].decode(Int32.self)[0]
    }

    private static func claim(_ schema: String, on connection: LeasedConnection) async throws {
        do { try await connection.query("SELECT pg_advisory_xact_lock(log.lock_class(), hashtext(\(schema)))") } catch let error
            as PostgresError where error.sqlState == .lockNotAvailable
        {
            throw ReadModelError.underWay(schema)
        }
    }

    /// Checks the locks. Every transaction of the work calls this function after it has locked the rows of the shadows, for which another
    /// process that takes the locks waits, and after it has created or dropped shadows.
    /// - Throws: ``ReadModelError/aborted(_:)``
    func check(on connection: LeasedConnection) async throws {
        let lost = try await connection.query(
            "SELECT s.schema FROM unnest(\(schemas)) AS s (schema) WHERE NOT \(session) = ANY (log.holders(s.schema))"
        ).decode(String.self)
        if let lost = lost.first { throw ReadModelError.aborted(lost) }
    }
}

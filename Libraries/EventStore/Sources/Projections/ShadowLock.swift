internal import Postgres

/// The right of one process to fill some shadows: an advisory lock of PostgreSQL for each. The locks end with the connection of the
/// process, and when the process was silent for ``seconds``, as on a machine that froze. Another process that wants them waits for that.
struct ShadowLock: Sendable {
    static let seconds = 5.0

    /// Sorted.
    let schemas: [String]
    /// The process of PostgreSQL that holds the locks.
    private let session: Int32

    /// Calls a closure with the locks. They belong to a transaction, also because of poolers; it has no snapshot while it is idle.
    /// - Throws: ``ReadModelError/underWay(_:)`` if another process has one of them, ``ReadModelError/aborted(_:)`` if they were lost, the
    ///   error of the closure
    static func with<Value: Sendable>(
        _ schemas: [String], client: PostgresClient, _ body: @Sendable @escaping (ShadowLock) async throws -> Value
    ) async throws -> Value {
        try await client.withConnection { connection in
            try await connection.query("BEGIN")
            let lock = ShadowLock(schemas: schemas.sorted(), session: try await begin(on: connection))
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

    private static func begin(on connection: LeasedConnection) async throws -> Int32 {
        try await connection.run([
            "SELECT set_config('idle_in_transaction_session_timeout', \(String(Int(seconds * 1_000))), true)",
            // A live builder does not give its lock up.
            "SELECT set_config('lock_timeout', \(String(Int(seconds * 1_500))), true)",
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

    /// Checks the locks. Every transaction of the work calls this function after it has locked the rows of the shadows. Another process
    /// that takes the locks waits for these rows.
    /// - Throws: ``ReadModelError/aborted(_:)``
    func check(on connection: LeasedConnection) async throws {
        let lost = try await connection.query(
            "SELECT s.schema FROM unnest(\(schemas)) AS s (schema) WHERE NOT \(session) = ANY (log.holders(s.schema))"
        ).decode(String.self)
        if let lost = lost.first { throw ReadModelError.aborted(lost) }
    }
}

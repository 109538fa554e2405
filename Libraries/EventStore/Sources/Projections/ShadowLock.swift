internal import Postgres

/// The right of one process to fill some shadows: an advisory lock of PostgreSQL for each.
struct ShadowLock: Sendable {
    private static let silenceSeconds = 30.0
    /// How long another process that wants the locks waits for one that is just ending.
    private static let waitSeconds = 7.5

    /// Sorted.
    let schemas: [String]
    /// The process of PostgreSQL that holds the locks.
    private let session: Int32

    /// Calls a closure with the locks.
    /// - Throws: ``ReadModelError/underWay(_:)`` if another process has one of them, ``ReadModelError/aborted(_:)`` if they were lost,
    ///   `PostgresError`, the error of the closure
    static func with<Value: Sendable>(
        _ schemas: [String], client: PostgresClient, _ body: @Sendable @escaping (ShadowLock) async throws -> Value
    ) async throws -> Value {
        let schemas = schemas.sorted()
        // The limit of a statement is longer, so the error says that a lock was missing.
        let wait = String(Int(min(waitSeconds, client.configuration.statementTimeoutSeconds * 0.9) * 1_000))
        do {
            return try await AdvisoryLocks.with(
                client, silenceSeconds: silenceSeconds,
                take: { connection, scope in
                    for schema in schemas {
                        do {
                            try await connection.run([
                                "SELECT set_config('lock_timeout', \(wait), true)",
                                "SELECT pg_advisory_\(scope)lock(\(ReadModels.lockClass), hashtext(\(schema)))",
                            ])
                        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
                            throw ReadModelError.underWay(schema)
                        }
                    }
                    let session = try await connection.query("SELECT pg_backend_pid()").decode(Int32.self)[0]
                    return ShadowLock(schemas: schemas, session: session)
                }, work: body)
        } catch is AdvisoryLocks.Lost {
            throw ReadModelError.aborted(schemas[0])
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

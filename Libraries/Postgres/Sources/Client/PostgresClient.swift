public import Logging
public import ServiceLifecycle
internal import Synchronization
internal import Telemetry

/// A pool of connections to one database. While the client runs, it replaces broken connections, with back-off.
///
/// ```swift
/// let rows = try await client.query("SELECT name, grams FROM teas WHERE grams >= \(grams) ORDER BY name")
/// return try rows.decode((String, Int64).self)
/// ```
///
/// Statements of different callers share connections: what a connection takes from the queue goes out as one pipeline. A caller
/// that needs its own connection leases one with ``withConnection(_:)`` or ``withTransaction(_:)``.
public final class PostgresClient: Service, PostgresQuerying {
    public let configuration: PostgresConfiguration
    public let statistics = PostgresStatistics()
    let logger: Logger
    let state: Mutex<PoolState>

    public init(_ configuration: PostgresConfiguration, logger: Logger) {
        self.configuration = configuration
        self.logger = logger
        state = Mutex(PoolState(configuration))
    }

    /// One statement.
    /// - Throws: ``PostgresError``, or `CancellationError` when the task is cancelled first; the statement may run all the same.
    @discardableResult
    public func query(_ statement: SQL) async throws -> Rows { try await run([statement])[0] }

    /// Several statements that go out together, without a round trip between them, and are one transaction: the answer comes
    /// after its commit, and an error after its rollback.
    ///
    /// If a connection breaks before they were sent, they wait for another one. The caller waits
    /// ``PostgresConfiguration/answerTimeoutSeconds`` at most, for all of it.
    /// - Throws: ``PostgresError``, or `CancellationError` when the task is cancelled first; the statements may run all the same.
    @discardableResult
    public func run(_ statements: [SQL]) async throws -> [Rows] {
        let deadline = monotonicSeconds() + configuration.answerTimeoutSeconds
        return try await statistics.measure {
            do {
                return try await ask(for: .pipeline(statements), deadline: deadline).rows
            } catch let error as PostgresError where error.sqlState == .invalidStatementName {
                return try await ask(for: .pipeline(statements), deadline: deadline).rows
            }
        }
    }

    /// Leases a connection to the body, which uses it alone. If the body throws, its open transaction is rolled back.
    /// - Throws: ``PostgresError``, `CancellationError`, and the error of the body
    public func withConnection<Value>(_ body: (LeasedConnection) async throws -> Value) async throws -> Value {
        let connection = try await ask(for: .lease, deadline: monotonicSeconds() + configuration.answerTimeoutSeconds).connection
        let leased = LeasedConnection(connection, of: self, stallSeconds: configuration.stallSeconds)
        do {
            let value = try await body(leased)
            giveBack(connection)
            return value
        } catch {
            // Whatever transaction the body was in, the next leaseholder must not inherit it. The end of a connection ends it as well.
            if !connection.isSpoiled, (try? await leased.query("ROLLBACK")) == nil { connection.spoil() }
            giveBack(connection)
            throw error
        }
    }

    /// Lends a connection inside a transaction, which commits when the body returns and rolls back when it throws.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the body throws
    public func withTransaction<Value>(_ body: (LeasedConnection) async throws -> Value) async throws -> Value {
        try await withConnection { connection in
            try await connection.query("BEGIN")
            let value = try await body(connection)
            // COMMIT of a transaction that a refused statement has spoilt answers ROLLBACK, and no error.
            guard try await connection.query("COMMIT").commandTag == "COMMIT" else { throw PostgresError.rolledBack }
            return value
        }
    }

    /// Lends a connection inside a transaction whose statements may take ``PostgresConfiguration/maintenanceTimeoutSeconds``.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the body throws
    public func withLongTransaction<Value>(_ body: (LeasedConnection) async throws -> Value) async throws -> Value {
        try await withTransaction { try await $0.withoutTimeout(body) }
    }
}

/// Runs a client for as long as the body does.
/// - Throws: what the body throws
public func withPostgres<Value: Sendable>(
    _ configuration: PostgresConfiguration,
    logger: Logger,
    _ body: @Sendable (PostgresClient) async throws -> Value
) async throws -> Value {
    let client = PostgresClient(configuration, logger: logger)
    // Not a child: a body that is cancelled may still clean up with it.
    let running = Task { await client.run() }
    let result: Result<Value, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    running.cancel()
    await running.value
    return try result.get()
}

internal import Synchronization

/// What answers statements: a client, or a connection that was leased.
public protocol PostgresQuerying: Sendable {
    /// Runs one statement.
    /// - Throws: ``PostgresError``, or `CancellationError`
    @discardableResult
    func query(_ statement: SQL) async throws -> Rows
}

/// A connection that its leaseholder has to itself. Not to be kept beyond the closure it was leased to.
public final class LeasedConnection: PostgresQuerying {
    private let connection: ConnectionThread
    private let client: PostgresClient
    private let stallSeconds: Double

    /// - Parameter stallSeconds: the maximum time without progress on a statement
    init(_ connection: ConnectionThread, of client: PostgresClient, stallSeconds: Double) {
        self.connection = connection
        self.client = client
        self.stallSeconds = stallSeconds
    }

    private var maintenanceSeconds: Double { client.configuration.maintenanceTimeoutSeconds }

    /// - Throws: ``PostgresError``, or `CancellationError`
    @discardableResult
    public func query(_ statement: SQL) async throws -> Rows { try await run([statement])[0] }

    /// Several statements that go out together; see ``PostgresClient/run(_:)-(_)``. Never sent a second time.
    /// - Throws: ``PostgresError``, or `CancellationError`
    @discardableResult
    public func run(_ statements: [SQL]) async throws -> [Rows] {
        try await client.statistics.measure { try await perform(.pipeline(statements), stallSeconds: stallSeconds) }
    }

    /// Lifts the server's statement time-out for the transaction under way: a statement may take
    /// ``PostgresConfiguration/maintenanceTimeoutSeconds``.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the body throws
    public func withoutTimeout<Value>(_ body: (LeasedConnection) async throws -> Value) async throws -> Value {
        try await query("SET LOCAL statement_timeout = 0")
        return try await body(LeasedConnection(connection, of: client, stallSeconds: maintenanceSeconds))
    }

    /// Several statements in one text, such as a migration.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func execute(script: String) async throws {
        try await perform(.script(script), stallSeconds: maintenanceSeconds)
    }

    /// `COPY … TO STDOUT`: the closure gets each row on the connection's own thread; the buffer is gone when it returns.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the closure throws
    public func copyOut(_ statement: String, row: @escaping @Sendable (RawSpan) throws -> Void) async throws {
        try await perform(.copyOut(statement, row: row), stallSeconds: maintenanceSeconds)
    }

    /// `COPY … FROM STDIN`: the closure gives the next piece of the data, on the connection's own thread, and nil at the end.
    /// A notice of PostgreSQL in the middle, such as one of a trigger, ends the COPY with SQLSTATE 57014.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the closure throws
    public func copyIn(_ statement: String, next: @escaping @Sendable () throws -> [UInt8]?) async throws {
        try await perform(.copyIn(statement, next: next), stallSeconds: maintenanceSeconds)
    }

    /// What other sessions send with NOTIFY while the body runs. The sequence ends when the connection does; when more than
    /// `limit` wait unread the oldest are dropped.
    /// - Throws: ``PostgresError``, `CancellationError`, and what the body throws
    public func withNotifications<Value>(
        on channel: String,
        limit: Int = 256,
        _ body: (AsyncStream<Notification>) async throws -> Value
    ) async throws -> Value {
        let (stream, continuation) = AsyncStream.makeStream(of: Notification.self, bufferingPolicy: .bufferingNewest(limit))
        connection.passNotifications(to: continuation)
        defer {
            connection.passNotifications(to: nil)
            continuation.finish()
        }
        try await query("LISTEN \(identifier: channel)")
        let result: Result<Value, any Error>
        do { result = .success(try await body(stream)) } catch { result = .failure(error) }
        do { try await query("UNLISTEN \(identifier: channel)") } catch { _ = try result.get(); throw error }
        return try result.get()
    }

    @discardableResult
    private func perform(_ work: Job.Work, stallSeconds: Double) async throws -> [Rows] {
        do {
            let job = Job(work: work, stallSeconds: stallSeconds)
            guard client.state.withLock({ $0.enqueue(job, on: connection) }) else {
                throw PostgresError.connectionLost(mayHaveRun: false)
            }
            connection.wake()
            return try await job.reply.value(onCancel: { [self] in
                connection.spoil()
                // With two, the other one may be the one that runs.
                if connection.load <= 1 { connection.cancelRunningStatement() }
                // A cancelled caller shortens the thread's wait for the answer.
                connection.wake()
            }).rows
        } catch PostgresError.deadlineExceeded(let mayHaveRun) {
            connection.spoil()
            throw PostgresError.deadlineExceeded(mayHaveRun: mayHaveRun)
        }
    }
}

/// What NOTIFY sent.
public struct Notification: Sendable, Hashable {
    public var channel: String
    public var payload: String
}

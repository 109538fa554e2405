public import Logging
public import ServiceLifecycle
internal import Synchronization
internal import Telemetry
public import Tracing

/// A handful of connections to one database. Broken ones are replaced, with back-off, while the client runs.
///
/// Statements of different callers share connections: what has queued up on one goes out as one pipeline. Whoever needs a
/// connection to itself borrows it with ``withConnection(_:)`` or ``withTransaction(_:)``.
public final class PostgresClient: Service, PostgresQuerying {
    fileprivate enum Slot: Sendable {
        case connecting
        case backingOff(reason: String)
        case shared(Connection)
        case lent(Connection)
    }

    fileprivate struct State: Sendable {
        var slots: [Slot]
        var waiters = Waiters()
        var isClosing = false
    }

    private static let firstBackOffSeconds = 0.05
    private static let longestBackOffSeconds = 2.0

    public let configuration: PostgresConfiguration
    private let logger: Logger
    private let counters = PostgresCounters()
    private let tracing: QueryTracing
    private let state: Mutex<State>

    /// - Parameter tracer: makes a span of every query below the span that is current; nil: nobody traces
    public init(_ configuration: PostgresConfiguration, tracer: (any Tracer)? = nil, logger: Logger) {
        tracing = QueryTracing(tracer: tracer)
        self.configuration = configuration
        self.logger = logger
        state = Mutex(State(slots: Array(repeating: .connecting, count: configuration.connections)))
    }

    // MARK: Statements

    /// One statement.
    /// - Throws: ``PostgresError``, or `CancellationError` when the task is cancelled first; the statement may run all the same.
    @discardableResult
    public func query(_ statement: SQL) async throws -> Rows { try await run([statement])[0] }

    /// Several statements that go out together, without a round trip between them, and are one transaction: the answer comes
    /// after its commit, and an error after its rollback.
    ///
    /// A connection that breaks before they were sent costs one more try; after that it is ``PostgresError/connectionLost(mayHaveRun:)``.
    @discardableResult
    public func run(_ statements: [SQL]) async throws -> [Rows] {
        try await tracing.trace(statements) {
            try await counters.measure {
                do {
                    return try await runOnce(statements)
                } catch let error as PostgresError where error.cannotHaveRun || error.sqlState == .invalidStatementName {
                    return try await runOnce(statements)
                }
            }
        }
    }

    private func runOnce(_ statements: [SQL]) async throws -> [Rows] {
        let job = Job(work: .pipeline(statements), timeoutSeconds: configuration.statementTimeoutSeconds)
        // Queued in the same moment: a little later the connection may be lent, and these end up in the borrower's transaction.
        let connection = try await available(to: .share) { state in
            state.leastBusy.flatMap { $0.connection.enqueue(job) ? $0.connection : nil }
        }
        connection.wake()
        return try await job.reply.value()
    }

    /// Lends a connection that nobody else uses meanwhile. A body that throws leaves no transaction open behind it.
    public func withConnection<Value>(_ body: (PostgresConnection) async throws -> Value) async throws -> Value {
        let (slot, connection) = try await borrow()
        let borrowed = PostgresConnection(
            connection, timeoutSeconds: configuration.statementTimeoutSeconds, counters: counters, tracing: tracing)
        do {
            let value = try await body(borrowed)
            giveBack(connection, to: slot, isReusable: !borrowed.mustBeClosed)
            return value
        } catch {
            // Whatever transaction the body was in, the next borrower must not inherit it.
            let isClean = (try? await borrowed.query("ROLLBACK")) != nil
            giveBack(connection, to: slot, isReusable: isClean && !borrowed.mustBeClosed)
            throw error
        }
    }

    /// Lends a connection inside a transaction, which commits when the body returns and rolls back when it throws.
    public func withTransaction<Value>(_ body: (PostgresConnection) async throws -> Value) async throws -> Value {
        try await withConnection { connection in
            try await connection.query("BEGIN")
            let value = try await body(connection)
            // COMMIT of a transaction that a refused statement has spoilt answers ROLLBACK, and no error.
            guard try await connection.query("COMMIT").commandTag == "COMMIT" else { throw PostgresError.rolledBack }
            return value
        }
    }

    // MARK: Finding a connection

    private func borrow() async throws -> (slot: Int, connection: Connection) {
        while true {
            let (slot, connection) = try await available(to: .borrow) { state -> (slot: Int, connection: Connection)? in
                guard let best = state.leastBusy else { return nil }
                state.slots[best.slot] = .lent(best.connection)
                return best
            }
            guard connection.load > 0 else { return (slot, connection) }
            // What others queued before is answered first: a borrower that is cancelled cancels what runs on its connection.
            do {
                _ = try await connection.perform(Job(work: .pipeline([]), timeoutSeconds: configuration.statementTimeoutSeconds))
                return (slot, connection)
            } catch {
                giveBack(connection, to: slot, isReusable: true)
                guard error is PostgresError else { throw error }
            }
        }
    }

    private func giveBack(_ connection: Connection, to slot: Int, isReusable: Bool) {
        if !isReusable { connection.close() }
        state.withLock { state in
            guard isReusable, case .lent(let lent) = state.slots[slot], lent === connection else { return }
            state.slots[slot] = .shared(connection)
            state.waiters.wakeForOneConnection()
        }
    }

    /// What `pick` finds, now or as soon as a connection gets free.
    private func available<Found: Sendable>(
        to purpose: Waiters.Purpose, _ pick: @Sendable (inout State) -> Found?
    ) async throws -> Found {
        if let found = state.withLock({ $0.isClosing ? nil : pick(&$0) }) { return found }
        let clock = ContinuousClock()
        let start = clock.now
        while true {
            let waiter = Reply<Void>()
            let now = clock.now
            let (found, deadline) = state.withLock { state -> (Found?, ContinuousClock.Instant?) in
                guard !state.isClosing else { return (nil, nil) }
                if let found = pick(&state) { return (found, nil) }
                let seconds = configuration.acquireTimeoutSeconds
                let deadline = start + .seconds(state.isAnyLent ? max(seconds, configuration.borrowedTimeoutSeconds) : seconds)
                guard now < deadline else { return (nil, nil) }
                state.waiters.add(waiter, for: purpose)
                return (nil, deadline)
            }
            if let found { return found }
            guard let deadline else { break }
            let timer = Task {
                try await clock.sleep(until: deadline)
                waiter.resolve(.success(()))
            }
            defer {
                timer.cancel()
                state.withLock { $0.waiters.remove(waiter) }
            }
            try await waiter.value()
        }
        throw PostgresError.unavailable(reason: state.withLock { $0.reasonForNoConnection })
    }

    // MARK: Keeping connections

    /// Opens the connections and keeps them until the task is cancelled or the service group shuts down; queued statements are
    /// answered first.
    public func run() async throws {
        await withDiscardingTaskGroup { group in
            for slot in 0..<configuration.connections { group.addTask { await self.keepOpen(slot) } }
            try? await gracefulShutdown()
            close()
            group.cancelAll()
        }
    }

    private func keepOpen(_ slot: Int) async {
        var backOffSeconds = Self.firstBackOffSeconds
        while !Task.isCancelled {
            do {
                let connection = try await Connection.open(configuration)
                backOffSeconds = Self.firstBackOffSeconds
                counters.count(.opened)
                set(slot, to: .shared(connection))
                await withCheckedContinuation { ended in connection.whenEnded { ended.resume() } }
                set(slot, to: .connecting)
                if !isClosing, !connection.isClosing {
                    counters.count(.lost)
                    logger.warning("a connection to PostgreSQL ended; opening another")
                }
            } catch {
                guard !Task.isCancelled else { break }
                counters.count(.failedToOpen)
                logger.warning("cannot connect to PostgreSQL", metadata: ["error": "\(error)"])
                set(slot, to: .backingOff(reason: (error as? PostgresError)?.reasonForNoConnection ?? "\(error)"))
                try? await Task.sleep(for: .seconds(backOffSeconds * Double.random(in: 0.5...1)))
                backOffSeconds = min(backOffSeconds * 2, Self.longestBackOffSeconds)
            }
        }
    }

    /// How many callers wait for a connection.
    var waitingCallers: Int { state.withLock { $0.waiters.count } }

    public var statistics: PostgresStatistics {
        let (uses, waiting) = state.withLock { ($0.slots.map(\.use), $0.waiters.count) }
        return PostgresStatistics(
            connections: uses.reduce(into: [:]) { $0[$1, default: 0] += 1 }, waiting: waiting,
            queries: counters.queries.distribution,
            failures: PostgresStatistics.Failure.allCases.reduce(into: [:]) { $0[$1] = counters.failures[$1.rawValue] },
            opened: counters[.opened], lost: counters[.lost], failedToOpen: counters[.failedToOpen])
    }

    private var isClosing: Bool { state.withLock { $0.isClosing } }

    private func set(_ slot: Int, to new: Slot) {
        let isClosing = state.withLock { state in
            state.slots[slot] = new
            if case .shared = new { state.waiters.wakeForOneConnection() }
            return state.isClosing
        }
        if isClosing, case .shared(let connection) = new { connection.close() }
    }

    private func close() {
        let connections = state.withLock { state in
            state.isClosing = true
            state.waiters.wakeAll()
            return state.slots.compactMap(\.connection)
        }
        for connection in connections { connection.close() }
    }
}

extension PostgresClient.State {
    /// Of the connections that nobody has borrowed.
    fileprivate var leastBusy: (slot: Int, connection: Connection)? {
        var best: (slot: Int, connection: Connection)?
        for (index, slot) in slots.enumerated() {
            // One that has ended stays in its slot until another is being opened.
            guard case .shared(let connection) = slot, connection.takesJobs else { continue }
            if connection.load < best?.connection.load ?? .max { best = (index, connection) }
        }
        return best
    }

    fileprivate var isAnyLent: Bool {
        slots.contains { slot in if case .lent = slot { true } else { false } }
    }

    fileprivate var reasonForNoConnection: String {
        if isClosing { return "the client is closed" }
        for case .backingOff(let reason) in slots { return reason }
        return "all \(slots.count) connections are in use or being opened"
    }
}

extension PostgresClient.Slot {
    fileprivate var connection: Connection? {
        switch self {
        case .shared(let connection), .lent(let connection): connection
        case .connecting, .backingOff: nil
        }
    }

    fileprivate var use: PostgresStatistics.Use {
        switch self {
        case .connecting: .connecting
        case .backingOff: .backingOff
        case .shared(let connection): connection.load > 0 ? .busy : .idle
        case .lent: .lent
        }
    }
}

/// Runs a client for as long as the body does.
public func withPostgres<Value: Sendable>(
    _ configuration: PostgresConfiguration,
    logger: Logger,
    _ body: @Sendable (PostgresClient) async throws -> Value
) async throws -> Value {
    let client = PostgresClient(configuration, logger: logger)
    // Not a child: a body that is cancelled may still clean up with it.
    let running = Task { try await client.run() }
    let result: Result<Value, any Error>
    do { result = .success(try await body(client)) } catch { result = .failure(error) }
    running.cancel()
    _ = await running.result
    return try result.get()
}

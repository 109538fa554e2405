internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The connections of a client, and the callers that wait for one.
///
/// A statement goes to an idle connection, else into the pipeline of the one with the fewest unanswered jobs. While all are full
/// or make no progress it stays here, and the first connection that has room takes it.
extension PostgresClient {
    /// Maximum number of statements that wait for a connection; the next is refused.
    static let queueLimit = 10_000
    private static let firstBackOffSeconds = 0.05
    private static let longestBackOffSeconds = 2.0
    /// The interval at which the timer ends overdue waits.
    private static let expirySeconds = 0.1

    /// A connection that its leaseholder has to itself.
    struct Lease: Sendable {
        var slot: Int
        var connection: ConnectionThread
    }

    /// The number of connections, by use.
    public var connections: [PostgresStatistics.Use: Int] {
        state.withLock { $0.slots.reduce(into: [:]) { $0[$1.use, default: 0] += 1 } }
    }

    /// Callers that wait for a connection.
    public var waitingCallers: Int { state.withLock { $0.waitingCallers } }

    // MARK: Statements

    /// - Parameter deadline: the caller is answered by then, in monotonic seconds
    /// - Throws: ``PostgresError``, or `CancellationError`
    func perform(_ statements: [SQL], deadline: Double) async throws -> [Rows] {
        let job = Job(work: .pipeline(statements), deadline: deadline, stallSeconds: configuration.stallSeconds)
        // Queued in the same moment: a little later the connection may be leased, and these end up in the leaseholder's transaction.
        let (connection, startsTimer) = try state.withLock { state in
            guard !state.isClosing else { throw state.noConnection }
            let best = state.queue.isEmpty ? state.leastBusy(at: job.askedAt, below: ConnectionThread.depthLimit) : nil
            if let best, best.connection.enqueue(job) { return (best.connection as ConnectionThread?, false) }
            guard state.queue.count < Self.queueLimit else {
                throw PostgresError.unavailable(reason: "\(Self.queueLimit) callers wait for a connection already")
            }
            state.queue.append(job)
            return (nil, state.startsTimer())
        }
        connection?.wake()
        if startsTimer { startTimer() }
        return try await job.reply.value()
    }

    // MARK: Leasing

    /// Takes a connection for exclusive use until ``giveBack(_:isReusable:)``.
    /// - Throws: ``PostgresError``, or `CancellationError`
    func lease() async throws -> Lease {
        let askedAt = monotonicSeconds()
        let deadline = askedAt + configuration.answerTimeoutSeconds
        while true {
            let lease = try await nextFree(askedAt: askedAt, deadline: deadline)
            guard lease.connection.load > 0 else { return lease }
            // What others queued before is answered first: a leaseholder that is cancelled cancels what runs on its connection.
            do {
                let job = Job(work: .pipeline([]), deadline: deadline, stallSeconds: configuration.stallSeconds)
                _ = try await lease.connection.perform(job)
                return lease
            } catch {
                giveBack(lease, isReusable: true)
                guard let error = error as? PostgresError else { throw error }
                guard monotonicSeconds() < deadline else { throw PostgresError.deadlineExceeded(mayHaveRun: false) }
                logger.debug("a connection was lost before it was leased", metadata: ["error": "\(error)"])
            }
        }
    }

    private func nextFree(askedAt: Double, deadline: Double) async throws -> Lease {
        while true {
            let job = Job(work: .pipeline([]), askedAt: askedAt, deadline: deadline)
            let (lease, startsTimer) = try state.withLock { state in
                let now = monotonicSeconds()
                guard !state.isClosing else { throw state.noConnection }
                if let best = state.leastBusy(at: now, below: .max) {
                    state.slots[best.slot] = .leased(best.connection)
                    return (best as Lease?, false)
                }
                if let error = state.patience(at: now)(job) { throw error }
                state.leaseWaiters.append(job)
                return (nil, state.startsTimer())
            }
            if let lease { return lease }
            if startsTimer { startTimer() }
            _ = try await job.reply.value()
        }
    }

    func giveBack(_ lease: Lease, isReusable: Bool) {
        if !isReusable { lease.connection.close() }
        let hasWork = state.withLock { state in
            guard isReusable, case .leased(let leased) = state.slots[lease.slot], leased === lease.connection else {
                return false
            }
            state.slots[lease.slot] = .shared(leased)
            return state.hasRoom(leased)
        }
        if hasWork { lease.connection.wake() }
    }

    // MARK: Waiting

    /// Called on the connection's thread, which looks for new jobs next.
    private func hasRoom(_ connection: ConnectionThread, slot: Int) {
        state.withLock { state in
            guard case .shared(let shared) = state.slots[slot], shared === connection else { return }
            _ = state.hasRoom(connection)
        }
    }

    /// Runs while there are waiting callers.
    private func startTimer() {
        Task {
            while true {
                let (expired, isNeeded) = state.withLock { state in
                    (state.takeExpired(at: monotonicSeconds()), state.stopsTimer() == false)
                }
                for (job, error) in expired { job.reply.resolve(.failure(error)) }
                guard isNeeded else { return }
                try? await Task.sleep(for: .seconds(Self.expirySeconds))
            }
        }
    }

    // MARK: Keeping connections

    /// Opens the connections and keeps them until the task is cancelled or the service group shuts down; queued statements are
    /// answered first.
    public func run() async {
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
                let connection = try await ConnectionThread.open(configuration) { self.hasRoom($0, slot: slot) }
                backOffSeconds = Self.firstBackOffSeconds
                statistics.count(.opened)
                set(slot, to: .shared(connection))
                await withCheckedContinuation { ended in connection.whenEnded { ended.resume() } }
                set(slot, to: .connecting)
                if !isClosing, !connection.isClosing {
                    statistics.count(.lost)
                    logger.warning("a connection to PostgreSQL ended; opening another")
                }
            } catch {
                guard !Task.isCancelled else { break }
                statistics.count(.failedToOpen)
                logger.warning("cannot connect to PostgreSQL", metadata: ["error": "\(error)"])
                set(slot, to: .backingOff(reason: (error as? PostgresError)?.reasonForNoConnection ?? "\(error)"))
                try? await Task.sleep(for: .seconds(backOffSeconds * Double.random(in: 0.5...1)))
                backOffSeconds = min(backOffSeconds * 2, Self.longestBackOffSeconds)
            }
        }
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    private func set(_ slot: Int, to new: PoolState.Slot) {
        let (isClosing, hasWork) = state.withLock { state in
            state.slots[slot] = new
            guard case .shared(let connection) = new, !state.isClosing else { return (state.isClosing, false) }
            return (false, state.hasRoom(connection))
        }
        guard case .shared(let connection) = new else { return }
        if isClosing { connection.close() } else if hasWork { connection.wake() }
    }

    private func close() {
        let (connections, left, error) = state.withLock { state in
            state.isClosing = true
            return (state.slots.compactMap(\.connection), state.spreadQueue(), state.noConnection)
        }
        for job in left { job.reply.resolve(.failure(error)) }
        for connection in connections { connection.close() }
    }
}

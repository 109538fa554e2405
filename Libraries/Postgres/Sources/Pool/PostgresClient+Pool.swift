internal import DequeModule
internal import Logging
internal import ServiceLifecycle
internal import Synchronization

/// The connections of a client, and the queue that they pull jobs from.
///
/// A job is for an idle connection, else for the pipeline of the one with the fewest unanswered jobs, which is woken and takes it.
/// While all are full or make no progress it waits, and the first connection that has room takes it.
extension PostgresClient {
    private static let firstBackOffSeconds = 0.05
    private static let longestBackOffSeconds = 2.0
    /// The interval at which the timer ends overdue waits.
    private static let expirySeconds = 0.1

    /// The number of connections, by use.
    public var connections: [PostgresStatistics.Use: Int] {
        state.withLock { $0.slots.reduce(into: [:]) { $0[$1.use, default: 0] += 1 } }
    }

    /// Callers that wait for a connection.
    public var waitingCallers: Int { state.withLock { $0.waiting.count } }

    // MARK: Callers

    /// Has a connection do a job. After a lease the caller has the connection for itself, until ``giveBack(_:)``.
    /// - Parameter deadline: the caller is answered by then, in monotonic seconds
    /// - Throws: ``PostgresError``, or `CancellationError`
    func ask(for work: Job.Work, deadline: Double) async throws -> Job.Answer {
        let job = Job(work: work, deadline: deadline, stallSeconds: configuration.stallSeconds)
        if let refusal = update({ $0.enqueue(job) }) { throw refusal }
        // No handler of a cancellation, since it would take the lock of the pool under the lock of the task, which `resolve` takes under the
        // lock of the pool. The timer finds out that a caller has given up.
        return try await job.reply.value()
    }

    /// Ends a lease, and the connection if it is spoiled.
    func giveBack(_ connection: ConnectionThread) {
        update { $0.giveBack(connection) }
        if connection.isSpoiled { connection.wake() }
    }

    /// Changes the pool. Connections that have got work by it are woken, and if callers must wait, a timer ends their wait.
    private func update<Value: Sendable>(_ change: (inout PoolState) -> Value) -> Value {
        let (value, woken, startsTimer) = state.withLock { state in
            let value = change(&state)
            let woken = state.distribute()
            return (value, woken, state.startsTimer())
        }
        for connection in woken { connection.wake() }
        if startsTimer { startTimer() }
        return value
    }

    /// Runs while there are waiting callers.
    private func startTimer() {
        Task {
            while let expired = update({ $0.expired(at: monotonicSeconds()) }) {
                for (job, error) in expired { job.reply.resolve(.failure(error)) }
                try? await Task.sleep(for: .seconds(Self.expirySeconds))
            }
        }
    }

    // MARK: Connections

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
                let connection = try await ConnectionThread.open(configuration) { self.serve(slot, $0) }
                backOffSeconds = Self.firstBackOffSeconds
                // In a task of its own: a cancelled client, too, waits until its callers are answered.
                _ = await Task { try? await connection.ended.value() }.value
            } catch {
                guard !Task.isCancelled else { break }
                statistics.count(.failedToOpen)
                logger.warning("cannot connect to PostgreSQL", metadata: ["error": "\(error)"])
                update { $0.slots[slot].failure = (error as? PostgresError)?.reasonForNoConnection ?? "\(error)" }
                try? await Task.sleep(for: .seconds(backOffSeconds * Double.random(in: 0.5...1)))
                backOffSeconds = min(backOffSeconds * 2, Self.longestBackOffSeconds)
            }
        }
    }

    /// Runs on the connection's thread, from its opening to its end.
    private func serve(_ slot: Int, _ session: Session) {
        statistics.count(.opened)
        update { $0.slots[slot] = PoolState.Slot(connection: session.front) }
        let reason = session.run { self.pull(slot) }
        // First of all, so that a caller that tries again gets another connection.
        let (lost, isExpected) = update { $0.end(slot, unsent: session.waiting) }
        session.fail(inFlight: reason, unsent: lost)
        if !isExpected {
            statistics.count(.lost)
            logger.warning("a connection to PostgreSQL ended; opening another")
        }
    }

    private func pull(_ slot: Int) -> (jobs: Deque<Job>, isClosing: Bool) {
        let (taken, woken) = state.withLock { state in
            // The connection may have room that no job has claimed yet.
            let woken = state.distribute()
            let own = state.slots[slot].connection
            return (state.take(slot), woken.filter { $0 !== own })
        }
        for connection in woken { connection.wake() }
        return taken
    }

    var isClosing: Bool { state.withLock { $0.isClosing } }

    private func close() {
        let connections = update { state in
            state.close()
            return state.slots.compactMap(\.connection)
        }
        for connection in connections { connection.wake() }
    }
}

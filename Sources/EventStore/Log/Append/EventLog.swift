internal import DequeModule
public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization
internal import Telemetry
public import Tracing

/// The one writer of a process. While transactions run, appends queue; the next transaction takes the whole queue. ``BatchSchedule``
/// says when. A log that is not busy adds no latency.
public final class EventLog: Service {
    private struct Pending: Sendable {
        var append: AppendRequest
        var continuation: CheckedContinuation<AppendResult, any Error>
    }

    private struct Queue: Sendable {
        var pending: Deque<Pending> = []
        var schedule = BatchSchedule()
        var isClosed = false
        /// The writer tasks that wait for a batch.
        var idle: [CheckedContinuation<Void, Never>] = []
        /// When the timer wakes a writer.
        var alarm: ContinuousClock.Instant?

        var decision: BatchSchedule.Decision {
            schedule.decision(queued: pending.count, isClosed: isClosed, now: .now)
        }

        /// To be carried out outside of the lock.
        mutating func signal() -> Signal? {
            switch decision {
            case .send: return idle.popLast().map(Signal.wakeWriter)
            case .wait(let time):
                guard let time, alarm != time else { return nil }
                alarm = time
                return .setAlarm(time)
            }
        }
    }

    private enum Signal: Sendable {
        case wakeWriter(CheckedContinuation<Void, Never>)
        case setAlarm(ContinuousClock.Instant)
    }

    /// Maximum number of queued appends; a further one is refused, so that callers notice a slow database early.
    public static let queueLimit = 10_000
    /// Maximum number of transactions in flight on the one connection: while PostgreSQL commits one, the next one is already
    /// sent.
    static let transactionsUnderWay = 2

    /// Settings of the writer's session. Its statements find rows by keys, one after the other. Another kind of join would read a whole
    /// index. PostgreSQL need not plan them again for each batch: docs/decisions/0042-plans.md
    public static let sessionSettings = [
        "enable_hashjoin": "off", "enable_mergejoin": "off", "enable_seqscan": "off", "plan_cache_mode": "force_generic_plan",
    ]

    private let transaction: AppendTransaction
    private let notifier: LogNotifier?
    private let listeners: Mutex<[any CommitListener]>
    /// The history of this log. A process keeps every value that it caches from the log with its generation. Remembered users of
    /// tokens are the exception: see ``LogHistory``.
    public let history: LogHistory
    private let counters = WriterCounters()
    private let tracing: AppendTracing
    private let queue = Mutex(Queue())
    /// The times at which the timer wakes a writer. The newest one counts.
    private let (alarms, alarmSetter) = AsyncStream.makeStream(
        of: ContinuousClock.Instant.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - client: used by the writer only, with one connection and a long timeout while it is leased (`leasedTimeoutSeconds`)
    ///   - notifier: gets the new end of the log after every commit
    ///   - listeners: get every commit before its callers get their results
    ///   - tracer: makes a span for every append, as a child of the current span; nil for no spans
    public init(
        client: PostgresClient, projections: [any Projection], notifier: LogNotifier? = nil, listeners: [any CommitListener] = [],
        tracer: (any Tracer)? = nil, logger: Logger
    ) {
        tracing = AppendTracing(tracer: tracer)
        self.notifier = notifier
        history = notifier?.history ?? LogHistory(logger: logger)
        self.listeners = Mutex([history] + listeners)
        transaction = AppendTransaction(client: client, projections: projections, logger: logger)
    }

    /// Returns once the event is durably recorded and all read models show it.
    ///
    /// The append is carried out even if the calling task is cancelled meanwhile.
    /// - Throws: ``VersionConflictError``, ``AppendConditionError``, ``KeyReusedError``, ``EventLogError``, ``ReadModelError/missing``,
    ///   ``ReadModelError/behind(_:)``, or a `PostgresError`. After `connectionLost` the event may be recorded; another append
    ///   with the same id finds out
    public func append(_ append: AppendRequest) async throws -> AppendResult {
        try await tracing.trace(append) { try await queued(append) }
    }

    private func queued(_ append: AppendRequest) async throws -> AppendResult {
        try await withCheckedThrowingContinuation { continuation in
            let (refusal, signal) = queue.withLock { queue -> (EventLogError?, Signal?) in
                guard !queue.isClosed else { return (.closed, nil) }
                guard queue.pending.count < Self.queueLimit else { return (.overloaded, nil) }
                queue.pending.append(Pending(append: append, continuation: continuation))
                return (nil, queue.signal())
            }
            carryOut(signal)
            if let refusal {
                counters.count(WriterStatistics.Outcome(refusal))
                continuation.resume(throwing: refusal)
            }
        }
    }

    /// Adds a listener, which gets every later commit before its callers get their results.
    public func add(_ listener: any CommitListener) { listeners.withLock { $0.append(listener) } }

    public var statistics: WriterStatistics { counters.statistics(queued: queue.withLock { $0.pending.count }) }

    /// Writes the queue until shutdown begins, then the rest of the queue.
    public func run() async {
        await withTaskCancellationOrGracefulShutdownHandler {
            await withDiscardingTaskGroup { group in
                for _ in 0..<Self.transactionsUnderWay {
                    group.addTask { while let batch = await self.nextBatch() { await self.write(batch) } }
                }
                group.addTask { await self.wakeWriters() }
            }
        } onCancelOrGracefulShutdown: {
            self.close()
        }
    }

    private func close() {
        let idle = queue.withLock { queue in
            queue.isClosed = true
            defer { queue.idle = [] }
            return queue.idle
        }
        alarmSetter.finish()
        for writer in idle { writer.resume() }
    }

    private func carryOut(_ signal: Signal?) {
        switch signal {
        case .wakeWriter(let writer): writer.resume()
        case .setAlarm(let time): alarmSetter.yield(time)
        case nil: break
        }
    }

    /// The timer. Lasts until ``close()``.
    private func wakeWriters() async {
        for await time in alarms {
            try? await Task.sleep(until: time, tolerance: .zero, clock: .continuous)
            let signal = queue.withLock { queue in
                queue.alarm = nil
                return queue.signal()
            }
            carryOut(signal)
        }
    }

    /// Waits for a batch and takes it; `nil` when the log is closed and the queue is empty.
    private func nextBatch() async -> [Pending]? {
        while true {
            let (batch, isClosed) = queue.withLock { queue -> ([Pending], Bool) in
                guard queue.decision == .send else { return ([], queue.isClosed) }
                let batch = Array(queue.pending.prefix(BatchSchedule.batchLimit))
                queue.pending.removeFirst(batch.count)
                queue.schedule.begin(batch.count, at: .now)
                return (batch, queue.isClosed)
            }
            guard batch.isEmpty else { return batch }
            guard !isClosed else { return nil }
            await withCheckedContinuation { continuation in
                let signal = queue.withLock { queue -> Signal? in
                    guard queue.decision != .send, !queue.isClosed else { return .wakeWriter(continuation) }
                    queue.idle.append(continuation)
                    return queue.signal()
                }
                carryOut(signal)
            }
        }
    }

    private func write(_ batch: [Pending]) async {
        let stopwatch = Stopwatch()
        let results = await transaction.append(batch.map(\.append))
        let signal = queue.withLock { queue in
            queue.schedule.end(batch.count)
            return queue.signal()
        }
        carryOut(signal)
        counters.wrote(results, nanoseconds: stopwatch.nanoseconds)
        let commits = Commit.all(
            of: zip(batch, results).compactMap { pending, result in
                guard case .success(let appended) = result, !appended.isRepeat else { return nil }
                return (appended.position, pending.append.envelope)
            })
        let listeners = listeners.withLock { $0 }
        for commit in commits { for listener in listeners { listener.committed(commit) } }
        for (pending, result) in zip(batch, results) { pending.continuation.resume(with: result) }
        guard let notifier, let tail = results.compactMap({ try? $0.get().position }).max() else { return }
        notifier.grew(to: tail)
    }
}

public enum EventLogError: Error, Hashable, CustomStringConvertible {
    case overloaded
    case closed

    public var description: String {
        switch self {
        case .overloaded: "\(EventLog.queueLimit) appends are waiting already"
        case .closed: "the log is being closed"
        }
    }
}

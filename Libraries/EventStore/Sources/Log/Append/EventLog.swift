internal import DequeModule
public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization
internal import Telemetry

/// The one writer of a process.
///
/// ```swift
/// let result = try await log.append(
///     AppendRequest(
///         id: dependencies.newDomainEventID,
///         streams: [StreamAppend([BookEvent.lent(reader: reader)], to: stream, after: Int32(history.count))],
///         recordedAt: dependencies.now(), metadata: Metadata(requestID: "desk-1", actor: nil, traceID: nil)))
/// switch result {
/// case .appended, .repeated: return true
/// case .conflict, .failedCondition, .keyReused: return false
/// }
/// ```
///
/// While transactions run, appends queue; the next transaction takes the whole queue. ``BatchSchedule`` says when. A log that is not
/// busy adds no latency.
public final class EventLog: Service {
    private struct Pending: Sendable {
        var append: AppendRequest
        var deadline: ContinuousClock.Instant
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

        /// Takes the appends of the next transaction, and the appends that have waited for too long.
        mutating func take(at now: ContinuousClock.Instant) -> (batch: [Pending], expired: [Pending]) {
            var (batch, expired, bytes) = ([Pending](), [Pending](), 0)
            while let next = pending.first, batch.count < BatchSchedule.batchLimit {
                if now < next.deadline {
                    bytes += next.append.bytes
                    guard batch.isEmpty || bytes <= BatchSchedule.byteLimit else { break }
                    batch.append(next)
                } else {
                    expired.append(next)
                }
                pending.removeFirst()
            }
            if !batch.isEmpty { schedule.begin(batch.count, at: now) }
            return (batch, expired)
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
    /// Maximum time of an append in the queue. The queue and the transactions of a batch take less time together than the server's time
    /// limit of a request. So no command is carried out after its caller got a 503 for that limit, unless the connection broke.
    public static let queueTime = Duration.seconds(10)
    /// The kernel's buffer for the writer's connection. Linux grants twice as much for its own use, by default at most this. A writer that
    /// freezes after its transactions are in that buffer holds no lock: docs/decisions/0049-silent-writers.md
    public static let sendBufferBytes: Int32 = 208 << 10
    /// Maximum number of transactions in flight on the one connection: while PostgreSQL commits one, the next one is already
    /// sent.
    static let transactionsUnderWay = 2

    /// Settings of the writer's session. Its statements find rows by keys, one after the other. Another kind of join would read a whole
    /// index. PostgreSQL need not plan them again for each batch: docs/decisions/0062-one-writer.md
    public static let sessionSettings = [
        "enable_hashjoin": "off", "enable_mergejoin": "off", "enable_seqscan": "off", "plan_cache_mode": "force_generic_plan",
    ]

    private let queueTime: Duration
    private let transaction: AppendTransaction
    private let notifier: LogNotifier?
    private let listeners: Mutex<[any CommitListener]>
    /// The history of this log. A process keeps every value that it caches from the log with its generation. Remembered users of
    /// tokens are the exception: see ``LostEndDetector``.
    public let history: LostEndDetector
    public let statistics = WriterStatistics()
    private let queue = Mutex(Queue())
    /// The times at which the timer wakes a writer. The newest one counts.
    private let (alarms, alarmSetter) = AsyncStream.makeStream(
        of: ContinuousClock.Instant.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - client: used by the writer only, with one connection
    ///   - notifier: gets the new end of the log after every commit
    ///   - queueTime: the maximum time of an append in the queue
    public init(
        client: PostgresClient, projections: [any Projection], notifier: LogNotifier? = nil, queueTime: Duration = queueTime,
        logger: Logger
    ) {
        self.queueTime = queueTime
        self.notifier = notifier
        history = notifier?.history ?? LostEndDetector(logger: logger)
        listeners = Mutex([history])
        transaction = AppendTransaction(client: client, projections: projections, logger: logger)
    }

    /// Returns once the domain events are durably recorded and all read models show them, or once nothing is to be recorded. They are
    /// recorded together or not at all.
    ///
    /// The append is carried out even if the calling task is cancelled meanwhile.
    /// - Returns: what the caller must handle
    /// - Throws: ``EventLogError``, ``ReadModelError/missing``, ``ReadModelError/behind(_:)``, or a `PostgresError`. After `connectionLost`
    ///   the domain events may be recorded; another append with the same id finds out
    public func append(_ append: AppendRequest) async throws -> AppendResult {
        try await withCheckedThrowingContinuation { continuation in
            let (refusal, signal) = queue.withLock { queue -> (EventLogError?, Signal?) in
                guard !queue.isClosed else { return (.closed, nil) }
                guard queue.pending.count < Self.queueLimit else { return (.overloaded, nil) }
                let deadline = ContinuousClock.now + queueTime
                queue.pending.append(Pending(append: append, deadline: deadline, continuation: continuation))
                return (nil, queue.signal())
            }
            carryOut(signal)
            if let refusal {
                statistics.count(WriterStatistics.Outcome(refusal))
                continuation.resume(throwing: refusal)
            }
        }
    }

    /// Adds a listener, which gets every later commit after ``history``, and before its callers get their results.
    public func add(_ listener: any CommitListener) { listeners.withLock { $0.append(listener) } }

    /// Appends that no transaction has taken yet.
    public var queueLength: Int { queue.withLock { $0.pending.count } }

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
            let (batch, expired, isClosed) = queue.withLock { queue -> ([Pending], [Pending], Bool) in
                guard queue.decision == .send else { return ([], [], queue.isClosed) }
                let (batch, expired) = queue.take(at: .now)
                return (batch, expired, queue.isClosed && queue.pending.isEmpty)
            }
            for pending in expired {
                statistics.count(WriterStatistics.Outcome(EventLogError.expired))
                pending.continuation.resume(throwing: EventLogError.expired)
            }
            guard batch.isEmpty else { return batch }
            guard !isClosed else { return nil }
            guard expired.isEmpty else { continue }
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
        statistics.wrote(results, nanoseconds: stopwatch.nanoseconds)
        let commits = Commit.all(
            of: zip(batch, results).flatMap { pending, result -> [(Int64, EventEnvelope<any DomainEvent>)] in
                guard case .success(.appended(let place)) = result else { return [] }
                let envelopes = pending.append.envelopes
                return Array(zip((place.position - Int64(envelopes.count) + 1)..., envelopes))
            })
        let listeners = listeners.withLock { $0 }
        for commit in commits { for listener in listeners { listener.committed(commit) } }
        for (pending, result) in zip(batch, results) { pending.continuation.resume(with: result) }
        guard let notifier, let tail = results.compactMap({ try? $0.get().place?.position }).max() else { return }
        notifier.grew(to: tail)
    }
}

public enum EventLogError: Error, Hashable, CustomStringConvertible {
    case overloaded
    case closed
    /// The append waited for too long in the queue. Nothing was recorded.
    case expired
    /// A lock was not free in time. Nothing was recorded.
    case lockHeld

    public var description: String {
        switch self {
        case .overloaded: "\(EventLog.queueLimit) appends are waiting already"
        case .closed: "the log is being closed"
        case .expired: "the append waited for too long behind others, and was not carried out"
        case .lockHeld: "another session holds the log's lock, or a lock of a read model"
        }
    }
}

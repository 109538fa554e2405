internal import DequeModule
public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization
internal import Telemetry
public import Tracing

/// The one writer of a process. While transactions run, appends queue; the next transaction takes the whole queue. It is sent before
/// the transaction in flight ends if it is as large. The writer uses no timer, so that an idle log adds no latency.
public final class EventLog: Service {
    private struct Pending: Sendable {
        var append: AppendRequest
        var continuation: CheckedContinuation<AppendResult, any Error>
    }

    private struct Queue: Sendable {
        var pending: Deque<Pending> = []
        /// Number of appends in the transactions in flight.
        var underWay = 0
        var isClosed = false
        /// The writer tasks that wait for a batch.
        var idle: [CheckedContinuation<Void, Never>] = []

        var hasBatch: Bool { EventLog.sends(pending.count, underWay: underWay, isClosed: isClosed) }
    }

    /// Whether the queue becomes a transaction now. While another transaction is in flight, the next one waits until it is as large:
    /// PostgreSQL would begin it only after that commit, and many small transactions cost more than a few large ones.
    static func sends(_ queued: Int, underWay: Int, isClosed: Bool) -> Bool {
        queued > 0 && (isClosed || queued >= min(underWay, batchLimit))
    }

    /// Maximum number of queued appends; a further one is refused, so that callers notice a slow database early.
    public static let queueLimit = 10_000
    /// Maximum number of appends in one transaction.
    public static let batchLimit = 1_000
    /// Maximum number of transactions in flight on the one connection: while PostgreSQL commits one, the next one is already
    /// sent.
    static let transactionsUnderWay = 2

    private let transaction: AppendTransaction
    private let notifier: LogNotifier?
    private let listeners: Mutex<[any CommitListener]>
    /// The history of this log. A process keeps every value that it caches from the log with its generation. Remembered users of
    /// tokens are the exception: see ``LogHistory``.
    public let history: LogHistory
    private let counters = WriterCounters()
    private let tracing: AppendTracing
    private let queue = Mutex(Queue())

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
            let (refusal, idle) = queue.withLock { queue -> (EventLogError?, CheckedContinuation<Void, Never>?) in
                guard !queue.isClosed else { return (.closed, nil) }
                guard queue.pending.count < Self.queueLimit else { return (.overloaded, nil) }
                queue.pending.append(Pending(append: append, continuation: continuation))
                return (nil, queue.hasBatch ? queue.idle.popLast() : nil)
            }
            idle?.resume()
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
        for writer in idle { writer.resume() }
    }

    /// Waits for a batch and takes it; `nil` when the log is closed and the queue is empty.
    private func nextBatch() async -> [Pending]? {
        while true {
            let (batch, isClosed) = queue.withLock { queue -> ([Pending], Bool) in
                guard queue.hasBatch else { return ([], queue.isClosed) }
                let batch = Array(queue.pending.prefix(Self.batchLimit))
                queue.pending.removeFirst(batch.count)
                queue.underWay += batch.count
                return (batch, queue.isClosed)
            }
            guard batch.isEmpty else { return batch }
            guard !isClosed else { return nil }
            await withCheckedContinuation { continuation in
                let isIdle = queue.withLock { queue in
                    guard !queue.hasBatch, !queue.isClosed else { return false }
                    queue.idle.append(continuation)
                    return true
                }
                if !isIdle { continuation.resume() }
            }
        }
    }

    private func write(_ batch: [Pending]) async {
        let stopwatch = Stopwatch()
        let results = await transaction.append(batch.map(\.append))
        let idle = queue.withLock { queue in
            queue.underWay -= batch.count
            return queue.hasBatch ? queue.idle.popLast() : nil
        }
        idle?.resume()
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

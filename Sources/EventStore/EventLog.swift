internal import DequeModule
public import Logging
public import Postgres
public import ServiceLifecycle
internal import Synchronization

/// The one writer of a process. While a commit is under way appends queue; the next transaction takes the whole queue.
/// There is no timer, so an idle log adds no latency.
public final class EventLog: Service {
    private struct Pending: Sendable {
        var append: Append
        var continuation: CheckedContinuation<Appended, any Error>
    }

    private struct Queue: Sendable {
        var pending: Deque<Pending> = []
        var isClosed = false
    }

    /// So many appends may wait; a further one is refused, so that a slow database is felt early.
    public static let queueLimit = 10_000
    /// So many go into one transaction.
    public static let batchLimit = 1_000

    private let transaction: AppendTransaction
    private let watch: LogWatch?
    private let logger: Logger
    private let queue = Mutex(Queue())
    private let wake = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))

    /// - Parameters:
    ///   - client: for the writer alone; it needs one connection
    ///   - watch: is told of every commit
    public init(client: PostgresClient, projections: [any Projection], watch: LogWatch? = nil, logger: Logger) {
        self.watch = watch
        transaction = AppendTransaction(client: client, projections: projections, logger: logger)
        self.logger = logger
    }

    /// Returns once the event is durably recorded and all read models show it.
    ///
    /// The append is carried out even when the calling task is cancelled meanwhile.
    /// - Throws: ``VersionConflict``, ``KeyReused``, ``EventLogError``, ``ReadModelError/outOfStep``, or a `PostgresError`; after
    ///   a `connectionLost` the event may be recorded, and appending it again with the same id tells.
    public func append(_ append: Append) async throws -> Appended {
        try await withCheckedThrowingContinuation { continuation in
            let refusal: EventLogError? = queue.withLock { queue in
                guard !queue.isClosed else { return .closed }
                guard queue.pending.count < Self.queueLimit else { return .overloaded }
                queue.pending.append(Pending(append: append, continuation: continuation))
                return nil
            }
            if let refusal { continuation.resume(throwing: refusal) } else { wake.continuation.yield() }
        }
    }

    /// Writes what is queued until the service group shuts down, then what is left.
    public func run() async throws {
        await withGracefulShutdownHandler {
            await withTaskCancellationHandler {
                for await _ in wake.stream { await writeQueue() }
                await writeQueue()
            } onCancel: {
                close()
            }
        } onGracefulShutdown: {
            self.close()
        }
    }

    private func close() {
        queue.withLock { $0.isClosed = true }
        wake.continuation.finish()
    }

    private func writeQueue() async {
        while true {
            let batch = queue.withLock { queue in
                let batch = Array(queue.pending.prefix(Self.batchLimit))
                queue.pending.removeFirst(batch.count)
                return batch
            }
            guard !batch.isEmpty else { return }
            let results = await transaction.append(batch.map(\.append))
            for (pending, result) in zip(batch, results) { pending.continuation.resume(with: result) }
            if let tail = results.compactMap({ try? $0.get().position }).max() { watch?.grew(to: tail) }
        }
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

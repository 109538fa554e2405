internal import DequeModule
public import Postgres
internal import Synchronization

/// Hands out numbers of a sequence. While a request to the database runs, callers queue, and the next request serves all of them.
///
/// While many callers ask at the same time, it keeps numbers in stock, so that callers need not wait. The stock is dropped when
/// the process ends and when the log loses its end. So the numbers have gaps, and the numbers of two nodes alternate.
public final class IDAllocator: Sendable {
    private struct State: Sendable {
        var stock: Deque<Int64> = []
        /// The generation of the log to which the stock belongs.
        var generation = LogGeneration()
        var waiting: Deque<(number: Int, continuation: CheckedContinuation<Int64, any Error>)> = []
        /// The number of the last caller.
        var number = 0
        var isFetching = false
        /// Number of ids that are in stock after a fetch; 0 as long as callers come one by one.
        var wanted = 0
        /// The time of the last fetch.
        var fetchedAt: ContinuousClock.Instant?

        /// The number of ids to fetch, which then count as being fetched; nil if no fetch is needed.
        mutating func beginFetch() -> Int? {
            guard !isFetching, !waiting.isEmpty || stock.count < wanted / 2 else { return nil }
            let now = ContinuousClock.now
            wanted = IDAllocator.stock(after: wanted, waiting: waiting.count, sinceFetch: fetchedAt.map { now - $0 })
            fetchedAt = now
            isFetching = true
            return max(waiting.count, waiting.count + wanted - stock.count)
        }

        mutating func take(in current: LogGeneration) -> Int64? {
            if generation != current {
                (generation, stock) = (current, [])
            }
            return stock.popFirst()
        }
    }

    static let stockLimit = 512
    /// Two fetches within this time are a sign of load. Each fetch is a transaction that waits for the disk, as appends do.
    private static let busyWithin = Duration.seconds(0.1)
    /// The shorter time that counts while the stock is empty. A person or a script that writes one change after the other needs no stock.
    private static let busyWithoutStockWithin = Duration.milliseconds(10)

    private let sequence: String
    private let client: PostgresClient
    private let history: LostEndDetector
    private let state = Mutex(State())

    /// - Parameters:
    ///   - sequence: the name with its schema, such as `log.user_ids`
    ///   - history: the history of the log in which the numbers are used
    public init(sequence: String, client: PostgresClient, history: LostEndDetector) {
        self.sequence = sequence
        self.client = client
        self.history = history
    }

    /// The number of ids to keep in stock. It grows while callers wait together, and while fetches follow each other closely.
    /// - Parameters:
    ///   - stock: the number until now
    ///   - sinceFetch: the time since the last fetch; `nil` before the first
    static func stock(after stock: Int, waiting: Int, sinceFetch: Duration?) -> Int {
        let isBusy = waiting > 1 || sinceFetch.map { $0 < (stock > 0 ? busyWithin : busyWithoutStockWithin) } ?? false
        return isBusy ? min(max(stock, waiting) * 2, stockLimit) : stock
    }

    /// - Throws: `PostgresError`, or `CancellationError` if the task is cancelled before it gets a number
    public func next() async throws -> Int64 {
        let (inStock, number, count) = state.withLock { state in
            let inStock = state.take(in: history.generation)
            state.number += 1
            return (inStock, state.number, state.beginFetch())
        }
        if let count { Task { await fetch(count) } }
        if let inStock { return inStock }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (arrived, count) = state.withLock { state in
                    let arrived = state.take(in: history.generation)
                    if arrived == nil { state.waiting.append((number, continuation)) }
                    return (arrived, state.beginFetch())
                }
                if let arrived { continuation.resume(returning: arrived) }
                if let count { Task { await fetch(count) } }
                // The task may have been cancelled before it was in the queue.
                if Task.isCancelled { giveUp(number) }
            }
        } onCancel: {
            giveUp(number)
        }
    }

    private func giveUp(_ number: Int) {
        let waiting = state.withLock { state in
            state.waiting.firstIndex { $0.number == number }.map { state.waiting.remove(at: $0).continuation }
        }
        waiting?.resume(throwing: CancellationError())
    }

    private func fetch(_ count: Int) async {
        var next: Int? = count
        while let count = next {
            let generation = history.generation
            let fetched: Result<[Int64], any Error>
            do {
                fetched = .success(
                    try await client.query(
                        "SELECT nextval(\(sequence)::regclass) FROM generate_series(1, \(Int64(count)))"
                    ).decode(Int64.self)
                )
            } catch {
                fetched = .failure(error)
            }
            let (served, again) = state.withLock { state in
                var served: [(CheckedContinuation<Int64, any Error>, Result<Int64, any Error>)] = []
                switch fetched {
                // The log lost its end during the fetch: fetch again.
                case .success where generation != history.generation: break
                case .success(let ids):
                    if state.generation != generation { (state.generation, state.stock) = (generation, []) }
                    state.stock.append(contentsOf: ids)
                    while !state.stock.isEmpty, let next = state.waiting.popFirst() {
                        served.append((next.continuation, .success(state.stock.removeFirst())))
                    }
                case .failure(let error):
                    state.wanted = 0
                    served = state.waiting.map { ($0.continuation, .failure(error)) }
                    state.waiting = []
                }
                state.isFetching = false
                return (served, state.beginFetch())
            }
            for (continuation, result) in served { continuation.resume(with: result) }
            next = again
        }
    }
}

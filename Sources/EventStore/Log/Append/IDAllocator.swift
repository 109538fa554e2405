internal import DequeModule
public import Postgres
internal import Synchronization

/// Hands out numbers of a sequence. While a request to the database is under way askers queue; the next takes them all.
///
/// While many callers ask at once, it keeps numbers in stock, so that callers need not wait. The stock is dropped when the process
/// ends and when the log loses its end: the numbers have gaps, and two nodes hand out theirs in turns.
public final class IDAllocator: Sendable {
    private struct State: Sendable {
        var stock: Deque<Int64> = []
        /// The stock is of this generation of the log.
        var generation = LogGeneration()
        var waiting: Deque<(number: Int, continuation: CheckedContinuation<Int64, any Error>)> = []
        /// Of the last asker that waited.
        var number = 0
        var isFetching = false
        /// How many are to be in stock after a fetch; 0 as long as askers come one by one.
        var wanted = 0

        /// The number of ids to fetch, which then count as being fetched; nil if no fetch is needed.
        mutating func beginFetch() -> Int? {
            guard !isFetching, !waiting.isEmpty || stock.count < wanted / 2 else { return nil }
            if waiting.count > 1 { wanted = min(max(wanted, waiting.count) * 2, stockLimit) }
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

    private static let stockLimit = 512

    private let sequence: String
    private let client: PostgresClient
    private let history: LogHistory
    private let state = Mutex(State())

    /// - Parameters:
    ///   - sequence: with its schema: `log.user_ids`
    ///   - history: of the log that the numbers are used in
    public init(sequence: String, client: PostgresClient, history: LogHistory) {
        self.sequence = sequence
        self.client = client
        self.history = history
    }

    /// - Throws: `PostgresError`, or `CancellationError` when the task is cancelled before a number is there
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
                // It may have been cancelled before it waited.
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

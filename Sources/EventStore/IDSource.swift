internal import DequeModule
public import Postgres
internal import Synchronization

/// Hands out numbers of a sequence. While a request to the database is under way askers queue; the next takes them all.
///
/// Where many ask at once it keeps some in stock, so that nobody has to wait. What is in stock when the process ends is never
/// handed out: the numbers have gaps, and two nodes hand out theirs in turns.
public final class IDSource: Sendable {
    private struct State: Sendable {
        var stock: Deque<Int64> = []
        var waiting: Deque<CheckedContinuation<Int64, any Error>> = []
        var isFetching = false
        /// How many are to be in stock after a fetch; 0 as long as askers come one by one.
        var wanted = 0

        /// How many to fetch, and then marked as being fetched; nil when there is nothing to do.
        mutating func beginFetch() -> Int? {
            guard !isFetching, !waiting.isEmpty || stock.count < wanted / 2 else { return nil }
            if waiting.count > 1 { wanted = min(max(wanted, waiting.count) * 2, stockLimit) }
            isFetching = true
            return max(waiting.count, waiting.count + wanted - stock.count)
        }
    }

    private static let stockLimit = 512

    private let sequence: String
    private let client: PostgresClient
    private let state = Mutex(State())

    /// - Parameter sequence: with its schema: `log.user_ids`
    public init(sequence: String, client: PostgresClient) {
        self.sequence = sequence
        self.client = client
    }

    public func next() async throws -> Int64 {
        let (inStock, count) = state.withLock { state in (state.stock.popFirst(), state.beginFetch()) }
        if let count { Task { await fetch(count) } }
        if let inStock { return inStock }
        return try await withCheckedThrowingContinuation { continuation in
            let (arrived, count) = state.withLock { state in
                let arrived = state.stock.popFirst()
                if arrived == nil { state.waiting.append(continuation) }
                return (arrived, state.beginFetch())
            }
            if let arrived { continuation.resume(returning: arrived) }
            if let count { Task { await fetch(count) } }
        }
    }

    private func fetch(_ count: Int) async {
        var next: Int? = count
        while let count = next {
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
                case .success(let ids):
                    state.stock.append(contentsOf: ids)
                    while let id = state.stock.first, let continuation = state.waiting.popFirst() {
                        state.stock.removeFirst()
                        served.append((continuation, .success(id)))
                    }
                case .failure(let error):
                    state.wanted = 0
                    served = state.waiting.map { ($0, .failure(error)) }
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

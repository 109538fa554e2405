public import Postgres
internal import Synchronization

/// Hands out numbers of a sequence. While a request to the database is under way askers queue; the next takes them all.
public final class IDSource: Sendable {
    private struct State: Sendable {
        var waiting: [CheckedContinuation<Int64, any Error>] = []
        var isFetching = false
    }

    private let sequence: String
    private let client: PostgresClient
    private let state = Mutex(State())

    /// - Parameter sequence: with its schema: `log.user_ids`
    public init(sequence: String, client: PostgresClient) {
        self.sequence = sequence
        self.client = client
    }

    public func next() async throws -> Int64 {
        try await withCheckedThrowingContinuation { continuation in
            let mustFetch = state.withLock { state in
                state.waiting.append(continuation)
                defer { state.isFetching = true }
                return !state.isFetching
            }
            if mustFetch { Task { await fetch() } }
        }
    }

    private func fetch() async {
        while true {
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                if state.waiting.isEmpty { state.isFetching = false }
                return state.waiting
            }
            guard !waiting.isEmpty else { return }
            do {
                let ids = try await client.query(
                    "SELECT nextval(\(sequence)::regclass) FROM generate_series(1, \(Int64(waiting.count)))"
                ).decode(Int64.self)
                for (continuation, id) in zip(waiting, ids) { continuation.resume(returning: id) }
            } catch {
                for continuation in waiting { continuation.resume(throwing: error) }
            }
        }
    }
}

internal import Postgres
internal import Synchronization

/// Looks values up in the database, many callers with one query, so that a thousand callers cost the database little more than one.
///
/// While a query runs, callers queue; the next query takes the whole queue, without a timer. Nothing is cached: what any node wrote
/// before a call is in its result.
public final class BatchedLookup<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    public typealias Search = @Sendable ([Key]) async throws -> [Key: Value]

    struct Waiter: Sendable {
        var key: Key
        var continuation: CheckedContinuation<Value?, any Error>
    }

    struct State: Sendable {
        var waiters: [Int: Waiter] = [:]
        var number = 0
        var isRunning = false
    }

    private let waiterLimit: Int
    private let search: Search
    let state = Mutex(State())

    /// - Parameters:
    ///   - waiterLimit: maximum number of waiting callers; a further one is refused
    ///   - search: finds the values of all keys; a key without a value has no entry. It must end in bounded time, as the queries of a
    ///     ``PostgresClient`` do.
    public init(waiterLimit: Int = 10_000, search: @escaping Search) {
        self.waiterLimit = waiterLimit
        self.search = search
    }

    /// The value of a key at a moment after the call.
    /// - Returns: `nil` if the key has none
    /// - Throws: the error of the search, `PostgresError.unavailable`, `CancellationError`
    public func value(of key: Key) async throws -> Value? {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let (isAccepted, starts) = state.withLock { state in
                    guard state.waiters.count < waiterLimit else { return (false, false) }
                    state.waiters[number] = Waiter(key: key, continuation: continuation)
                    defer { state.isRunning = true }
                    return (true, !state.isRunning)
                }
                guard isAccepted else {
                    let error = PostgresError.unavailable(reason: "\(waiterLimit) callers wait for the same query already")
                    return continuation.resume(throwing: error)
                }
                if starts { Task { await run() } }
                // The task may have been cancelled before it was registered.
                if Task.isCancelled { end([number], .failure(CancellationError())) }
            }
        } onCancel: {
            end([number], .failure(CancellationError()))
        }
    }

    /// Runs queries until no caller waits for one.
    private func run() async {
        while let keys = nextBatch() {
            do {
                let found = try await search(Array(Set(keys.values)))
                for (number, key) in keys { end([number], .success(found[key])) }
            } catch {
                // The queue too: while the database is away, no caller waits longer than one query takes to fail.
                end(state.withLock { Array($0.waiters.keys) }, .failure(error))
            }
        }
    }

    /// The keys of all callers, by number; `nil` if there are none. No query runs, so no caller is in one.
    private func nextBatch() -> [Int: Key]? {
        state.withLock { state in
            state.isRunning = !state.waiters.isEmpty
            return state.isRunning ? state.waiters.mapValues(\.key) : nil
        }
    }

    /// Resumes the callers that still wait.
    private func end(_ numbers: [Int], _ result: Result<Value?, any Error>) {
        let waiters = state.withLock { state in numbers.compactMap { state.waiters.removeValue(forKey: $0) } }
        for waiter in waiters { waiter.continuation.resume(with: result) }
    }
}

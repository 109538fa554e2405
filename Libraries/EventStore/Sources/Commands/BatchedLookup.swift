internal import Postgres
internal import Synchronization

/// Looks values up in the database, many callers with one query, so that a thousand callers cost the database little more than one.
///
/// While a query runs, callers queue; the next query takes the whole queue, without a timer. Nothing is cached: what any node wrote
/// before a call is in its result.
public final class BatchedLookup<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    public typealias Search = @Sendable ([Key]) async throws -> [Key: Value]

    struct Caller: Sendable {
        var key: Key
        var deadline: ContinuousClock.Instant
        /// Whether a query with this key runs.
        var isAsked = false
        var continuation: CheckedContinuation<Value?, any Error>
    }

    struct State: Sendable {
        var callers: [Int: Caller] = [:]
        var number = 0
        var isRunning = false
        var isTimed = false
    }

    /// Seconds between two checks for waits that have exceeded their time limit.
    private static var expirySeconds: Double { 0.1 }

    private let timeoutSeconds: Double
    private let callerLimit: Int
    private let search: Search
    let state = Mutex(State())

    /// - Parameters:
    ///   - timeoutSeconds: the longest wait of a caller, for the query before its own too
    ///   - callerLimit: maximum number of waiting callers; a further one is refused
    ///   - search: finds the values of all keys; a key without a value has no entry
    public init(timeoutSeconds: Double, callerLimit: Int = 10_000, search: @escaping Search) {
        self.timeoutSeconds = timeoutSeconds
        self.callerLimit = callerLimit
        self.search = search
    }

    /// The value of a key at a moment after the call.
    /// - Returns: `nil` if the key has none
    /// - Throws: the error of the search, `PostgresError.deadlineExceeded`, `PostgresError.unavailable`, `CancellationError`
    public func value(of key: Key) async throws -> Value? {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let deadline = ContinuousClock.now + .seconds(timeoutSeconds)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let caller = Caller(key: key, deadline: deadline, continuation: continuation)
                let (isAccepted, starts, startsTimer) = state.withLock { state in
                    guard state.callers.count < callerLimit else { return (false, false, false) }
                    state.callers[number] = caller
                    defer { (state.isRunning, state.isTimed) = (true, true) }
                    return (true, !state.isRunning, !state.isTimed)
                }
                guard isAccepted else {
                    let error = PostgresError.unavailable(reason: "\(callerLimit) callers wait for the same query already")
                    return continuation.resume(throwing: error)
                }
                if starts { Task { await run() } }
                if startsTimer { Task { await endLateWaits() } }
                // The task may have been cancelled before it was registered.
                if Task.isCancelled { end([number], .failure(CancellationError())) }
            }
        } onCancel: {
            end([number], .failure(CancellationError()))
        }
    }

    /// Runs queries until no caller waits for one.
    private func run() async {
        while let (numbers, keys) = nextBatch() {
            do {
                let found = try await search(Array(Set(keys)))
                for (number, key) in zip(numbers, keys) { end([number], .success(found[key])) }
            } catch {
                end(numbers, .failure(error))
            }
        }
    }

    /// Takes all callers that no query has; `nil` if there are none.
    private func nextBatch() -> (numbers: [Int], keys: [Key])? {
        state.withLock { state in
            let numbers = state.callers.filter { !$0.value.isAsked }.keys.sorted()
            guard !numbers.isEmpty else {
                state.isRunning = false
                return nil
            }
            for number in numbers { state.callers[number]?.isAsked = true }
            return (numbers, numbers.compactMap { state.callers[$0]?.key })
        }
    }

    /// Resumes the callers that still wait.
    private func end(_ numbers: [Int], _ result: Result<Value?, any Error>) {
        let callers = state.withLock { state in numbers.compactMap { state.callers.removeValue(forKey: $0) } }
        for caller in callers { caller.continuation.resume(with: result) }
    }

    /// Runs while callers wait.
    private func endLateWaits() async {
        while true {
            let now = ContinuousClock.now
            let (late, isNeeded) = state.withLock { state in
                let late = state.callers.filter { $0.value.deadline <= now }.map(\.key)
                state.isTimed = state.callers.count > late.count
                return (late, state.isTimed)
            }
            end(late, .failure(PostgresError.deadlineExceeded(mayHaveRun: false)))
            guard isNeeded else { return }
            try? await Task.sleep(for: .seconds(Self.expirySeconds))
        }
    }
}

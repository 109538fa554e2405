internal import Postgres
internal import Synchronization

/// Finds the users of tokens in the database, many callers with one query.
///
/// While a query runs, callers queue; the next query takes the whole queue, without a timer. Nothing is cached, so that a token that
/// any node has replaced or revoked is dead on this node too.
final class TokenLookup: Sendable {
    typealias Search = @Sendable ([DeviceDigest]) async throws -> [DeviceDigest: UserID]

    struct Caller: Sendable {
        var device: DeviceDigest
        var deadline: ContinuousClock.Instant
        /// Whether a query with this device runs.
        var isAsked = false
        var continuation: CheckedContinuation<UserID?, any Error>
    }

    struct State: Sendable {
        var callers: [Int: Caller] = [:]
        var number = 0
        var isRunning = false
        var isTimed = false
    }

    /// Maximum number of waiting callers; a further one is refused.
    static let callerLimit = 10_000
    /// Seconds between two checks for waits that have exceeded their time limit.
    private static let expirySeconds = 0.1

    private let timeoutSeconds: Double
    private let callerLimit: Int
    private let search: Search
    let state = Mutex(State())

    /// - Parameters:
    ///   - timeoutSeconds: the longest wait of a caller, for the query before its own too
    ///   - search: finds the users of all devices; devices without a user have no entry
    init(timeoutSeconds: Double, callerLimit: Int = callerLimit, search: @escaping Search) {
        self.timeoutSeconds = timeoutSeconds
        self.callerLimit = callerLimit
        self.search = search
    }

    /// The user of a device at a moment after the call.
    /// - Returns: `nil` if no user has the token now
    /// - Throws: the error of the search, `PostgresError.deadlineExceeded`, `PostgresError.unavailable`, `CancellationError`
    func user(of device: DeviceDigest) async throws -> UserID? {
        let number = state.withLock { state in
            state.number += 1
            return state.number
        }
        let deadline = ContinuousClock.now + .seconds(timeoutSeconds)
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let caller = Caller(device: device, deadline: deadline, continuation: continuation)
                let (isAccepted, starts, startsTimer) = state.withLock { state in
                    guard state.callers.count < callerLimit else { return (false, false, false) }
                    state.callers[number] = caller
                    defer { (state.isRunning, state.isTimed) = (true, true) }
                    return (true, !state.isRunning, !state.isTimed)
                }
                guard isAccepted else {
                    let error = PostgresError.unavailable(reason: "\(callerLimit) callers wait for the user of a token already")
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
        while let (numbers, devices) = nextBatch() {
            do {
                let found = try await search(Array(Set(devices)))
                for (number, device) in zip(numbers, devices) { end([number], .success(found[device])) }
            } catch {
                end(numbers, .failure(error))
            }
        }
    }

    /// Takes all callers that no query has; `nil` if there are none.
    private func nextBatch() -> (numbers: [Int], devices: [DeviceDigest])? {
        state.withLock { state in
            let numbers = state.callers.filter { !$0.value.isAsked }.keys.sorted()
            guard !numbers.isEmpty else {
                state.isRunning = false
                return nil
            }
            for number in numbers { state.callers[number]?.isAsked = true }
            return (numbers, numbers.compactMap { state.callers[$0]?.device })
        }
    }

    /// Resumes the callers that still wait.
    private func end(_ numbers: [Int], _ result: Result<UserID?, any Error>) {
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

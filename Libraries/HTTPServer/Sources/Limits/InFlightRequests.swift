internal import Synchronization

/// Counts the requests in tasks, and refuses those beyond a limit. Immediate responses are not counted.
///
/// Requests that wait for something outside of the process, such as a database, have limits of their own, so that requests that only
/// compute still get responses. Reads, writes and checks of passwords have one each: a flood of one kind refuses no other.
public final class InFlightRequests: Sendable {
    /// The limit that a task counts against.
    public enum Limit: Int, Sendable, CaseIterable {
        /// The task waits for something outside of the process, and changes nothing there.
        case reading
        case writing
        /// The task proves who the client is, or makes the client known.
        case authenticating
        /// The task only computes.
        case computing
        /// The task is not limited: health checks.
        case unlimited
    }

    /// Maximum number of computing tasks. Each keeps one request and one response in memory.
    private static let computingLimit = 256

    private let waitingLimit: Int
    /// The counts by the raw values of the limits.
    private let state = Mutex((counts: [Int](repeating: 0, count: Limit.allCases.count), refused: 0))

    /// - Parameter waitingLimit: maximum number of requests of each kind that wait for something outside of the process
    public init(waitingLimit: Int = 256) { self.waitingLimit = waitingLimit }

    /// The number of refused requests.
    public var refusals: Int { state.withLock { $0.refused } }

    /// The number of requests in tasks. Requests of disconnected clients count.
    public var count: Int { state.withLock { $0.counts.reduce(0, +) } }

    /// Counts a request, or refuses it.
    /// - Returns: whether the request may begin; then `end(_:)` must be called once
    public func begin(_ limit: Limit) -> Bool {
        state.withLock { state in
            guard state.counts[limit.rawValue] < maximum(limit) else {
                state.refused += 1
                return false
            }
            state.counts[limit.rawValue] += 1
            return true
        }
    }

    /// Ends a request that ``begin(_:)`` counted.
    public func end(_ limit: Limit) { state.withLock { $0.counts[limit.rawValue] -= 1 } }

    private func maximum(_ limit: Limit) -> Int {
        switch limit {
        case .reading, .writing, .authenticating: waitingLimit
        case .computing: Self.computingLimit
        case .unlimited: .max
        }
    }
}

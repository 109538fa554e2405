public import ServiceLifecycle
internal import Synchronization

/// Counts the requests in tasks, and refuses those beyond a limit. Immediate responses are not counted.
///
/// Requests that wait for something outside of the process, such as a database, have limits of their own, so that requests that only
/// compute still get responses. Reads, writes and checks of passwords have one each: a flood of one kind refuses no other.
///
/// As a service it ends when no task is left, so that the services that the tasks need can end after it.
public final class InFlightRequests: Service, Sendable {
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
    private let reading = Atomic(0)
    private let writing = Atomic(0)
    private let authenticating = Atomic(0)
    private let computing = Atomic(0)
    private let unlimited = Atomic(0)
    private let refused = Atomic(0)

    /// - Parameter waitingLimit: maximum number of requests of each kind that wait for something outside of the process
    public init(waitingLimit: Int = 256) { self.waitingLimit = waitingLimit }

    /// The number of refused requests.
    public var refusals: Int { refused.load(ordering: .relaxed) }

    /// The number of requests in tasks. Requests of disconnected clients count.
    public var count: Int { Limit.allCases.reduce(0) { $0 + self[$1] } }

    /// The number of requests in tasks that count against a limit.
    public subscript(limit: Limit) -> Int {
        switch limit {
        case .reading: reading.load(ordering: .acquiring)
        case .writing: writing.load(ordering: .acquiring)
        case .authenticating: authenticating.load(ordering: .acquiring)
        case .computing: computing.load(ordering: .acquiring)
        case .unlimited: unlimited.load(ordering: .acquiring)
        }
    }

    /// Counts a request, or refuses it.
    /// - Returns: whether the request may begin; then `end(_:)` must be called once
    func begin(_ limit: Limit) -> Bool {
        guard add(1, to: limit) <= maximum(limit) else {
            _ = add(-1, to: limit)
            refused.add(1, ordering: .relaxed)
            return false
        }
        return true
    }

    func end(_ limit: Limit) { _ = add(-1, to: limit) }

    private func maximum(_ limit: Limit) -> Int {
        switch limit {
        case .reading, .writing, .authenticating: waitingLimit
        case .computing: Self.computingLimit
        case .unlimited: .max
        }
    }

    /// - Returns: the new number
    private func add(_ change: Int, to limit: Limit) -> Int {
        switch limit {
        case .reading: reading.add(change, ordering: .acquiringAndReleasing).newValue
        case .writing: writing.add(change, ordering: .acquiringAndReleasing).newValue
        case .authenticating: authenticating.add(change, ordering: .acquiringAndReleasing).newValue
        case .computing: computing.add(change, ordering: .acquiringAndReleasing).newValue
        case .unlimited: unlimited.add(change, ordering: .acquiringAndReleasing).newValue
        }
    }

    /// Waits for the graceful shutdown, and then until no request is in flight or the task is cancelled.
    public func run() async {
        try? await gracefulShutdown()
        while count > 0, !Task.isCancelled { try? await Task.sleep(for: .milliseconds(10)) }
    }
}

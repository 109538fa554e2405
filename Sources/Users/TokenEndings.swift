internal import EventStore
internal import Logging
internal import Postgres
public import ServiceLifecycle
internal import Synchronization

/// Ends what lasts longer than a request, such as a stream, when the token with which it began is replaced or revoked on any node.
///
/// It follows the domain events of users in the log, so it knows of an ending as soon as this node's readers of the log do. A caller
/// takes a ``Mark`` before it looks the token up, and passes it to ``onEnd(of:since:_:)``. So no ending between the two is missed.
///
/// Thread-safe: a lock protects the state.
public final class TokenEndings: Service {
    /// A moment in the order of the endings.
    public struct Mark: Sendable, Hashable {
        var count: Int
    }

    private struct State {
        var actions: [UserID: [Int: @Sendable () -> Void]] = [:]
        var number = 0
        /// Number of endings so far.
        var count = 0
        /// The number of the last ending of each user. A full memory begins anew.
        var ended: [UserID: Int] = [:]
        /// Endings up to this number are forgotten.
        var forgotten = 0
        var isFollowing = false
    }

    /// Maximum number of remembered endings. An ending matters only to requests that are under way.
    static let endedLimit = 10_000
    private static let pauseSeconds = 0.25

    private let client: PostgresClient
    private let notifier: LogNotifier
    private let logger: Logger
    private let state = Mutex(State())
    private let needs: AsyncStream<Void>
    private let need: AsyncStream<Void>.Continuation

    init(client: PostgresClient, notifier: LogNotifier, logger: Logger) {
        self.client = client
        self.notifier = notifier
        self.logger = logger
        (needs, need) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Follows the log from now on. A process in which nothing depends on a token saves the queries.
    public func start() { need.yield() }

    /// The present moment; `nil` until the log is followed.
    public var mark: Mark? { state.withLock { $0.isFollowing ? Mark(count: $0.count) : nil } }

    /// Calls the action once, when the token of a user ends; immediately if it has ended since a moment.
    /// - Parameter mark: was taken before the token was looked up
    /// - Returns: a number for ``forget(_:of:)``
    public func onEnd(of user: UserID, since mark: Mark, _ action: @escaping @Sendable () -> Void) -> Int {
        let (number, hasEnded) = state.withLock { state in
            state.number += 1
            let hasEnded = max(state.ended[user] ?? 0, state.forgotten) > mark.count
            if !hasEnded { state.actions[user, default: [:]][state.number] = action }
            return (state.number, hasEnded)
        }
        if hasEnded { action() }
        return number
    }

    /// Drops an action.
    public func forget(_ number: Int, of user: UserID) {
        state.withLock { state in
            state.actions[user]?[number] = nil
            if state.actions[user]?.isEmpty == true { state.actions[user] = nil }
        }
    }

    /// Follows the log until the service group shuts down, once ``start()`` was called.
    /// - Throws: never; the protocol requires `throws`
    public func run() async throws {
        await cancelWhenGracefulShutdown { [self] in
            for await _ in needs { break }
            while !Task.isCancelled {
                do { try await follow() } catch is CancellationError { return } catch {
                    // Endings may be missed until the log is followed again, for example after it lost its end.
                    endAll()
                    logger.warning("streams of users end, because the log is followed anew", metadata: ["because": "\(error)"])
                    try? await Task.sleep(for: .seconds(Self.pauseSeconds))
                }
            }
        }
    }

    private func follow() async throws {
        let start = try await LogReader(client: client).tail()
        state.withLock { $0.isFollowing = true }
        let filter = LogFilter(categories: [UserDomainEvent.category])
        for try await page in LogTail(client: client, notifier: notifier, after: start, filter: filter) {
            // A user's first domain event brings a token, and each later one ends the token before it.
            for recorded in page.events where recorded.envelope.version > 1 {
                if let user = UserID(stream: recorded.envelope.stream) { end(user) }
            }
        }
    }

    func end(_ user: UserID) {
        let actions = state.withLock { state in
            state.count += 1
            if state.ended.count >= Self.endedLimit { (state.ended, state.forgotten) = ([:], state.count - 1) }
            state.ended[user] = state.count
            return state.actions.removeValue(forKey: user)
        }
        for action in actions?.values.map(\.self) ?? [] { action() }
    }

    private func endAll() {
        let actions = state.withLock { state in
            defer { state.actions = [:] }
            state.count += 1
            (state.ended, state.forgotten, state.isFollowing) = ([:], state.count, false)
            return state.actions.values.flatMap(\.values)
        }
        for action in actions { action() }
    }
}

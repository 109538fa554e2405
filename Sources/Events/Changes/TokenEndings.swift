internal import Synchronization
public import Users

/// Ends a stream of changes when the token with which it began is replaced or revoked on any node.
///
/// The index passes the domain events of users on, so an ending is known as soon as the events before it are in the index: one of this
/// node before its caller gets the result. A caller takes a ``Mark`` before it looks the token up, and passes it to
/// ``onEnd(of:since:_:)``. So no ending between the two is missed.
///
/// Thread-safe: a lock protects the state.
public final class TokenEndings: Sendable {
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
    private let state = Mutex(State())

    /// The present moment; `nil` while the index is not loaded.
    public var mark: Mark? { state.withLock { $0.isFollowing ? Mark(count: $0.count) : nil } }

    /// Calls the action once, when the token of a user ends; immediately if it has ended since a moment. The action must not wait.
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

    /// Every ending from the position of the index on will be known.
    func begin() { state.withLock { $0.isFollowing = true } }

    func end(_ user: UserID) {
        let actions = state.withLock { state in
            state.count += 1
            if state.ended.count >= Self.endedLimit { (state.ended, state.forgotten) = ([:], state.count - 1) }
            state.ended[user] = state.count
            return state.actions.removeValue(forKey: user)
        }
        for action in actions?.values.map(\.self) ?? [] { action() }
    }

    /// Endings are missed from now on. The actions are dropped, because the streams end with the index.
    func stop() {
        state.withLock { state in
            state.count += 1
            (state.actions, state.ended, state.forgotten, state.isFollowing) = ([:], [:], state.count, false)
        }
    }
}

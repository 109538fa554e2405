internal import EventStore
internal import Postgres
internal import Synchronization
internal import Users

/// The largest number of live events that a user may have.
///
/// A count of a user's live events takes a query that reads all of them. So a count grants a tenth of the room that it found, and
/// concurrent creations of one user share a count. On one node a user never exceeds the quota. On several nodes each may still hold a
/// grant, so that a user may exceed it by a tenth for each further node.
public final class EventQuota: Sendable {
    /// The creations of one user on this node.
    private struct Creations {
        var begun = 0
        /// The number of creations that have ended. A count that begins later contains them.
        var ended = 0
        /// The number of further creations that need no count.
        var granted = 0
        /// The count that is under way, and the number of creations that had ended before it: it contains them.
        var count: Task<(number: Int, endedBefore: Int), any Error>?
    }

    /// Maximum number of users in memory. A full memory begins anew.
    private static let userLimit = 100_000
    /// Maximum number of counts for one creation. A count may contain creations that also count as being under way.
    private static let countLimit = 5

    /// The quota of one user; 0 for none.
    let limit: Int
    private let users = Mutex<[UserID: Creations]>([:])

    public init(limit: Int) { self.limit = limit }

    /// Runs a creation of a user's event.
    /// - Parameters:
    ///   - count: counts the user's live events
    ///   - create: gets the number of live events, at most, to decide on; `nil` if there is room without a count. It must throw if the number
    ///     reaches the quota
    /// - Throws: what `count` and `create` throw
    func withRoom<Result>(
        for user: UserID, counting count: @escaping @Sendable () async throws -> Int,
        _ create: (_ liveEvents: Int?) async throws -> Result
    ) async throws -> Result {
        if limit == 0 { return try await create(nil) }
        var live: Int?
        if !takeGranted(user) {
            for _ in 1...Self.countLimit {
                let (most, isCertain) = begin(user, counted: try await sharedCount(of: user, count).value)
                live = most
                if most < limit || isCertain { break }
            }
            if let live, live >= limit { return try await create(live) }
        }
        defer {
            users.withLock { users in
                guard let creations = users[user], creations.ended < creations.begun else { return }
                users[user]?.ended += 1
            }
        }
        return try await create(live)
    }

    private func takeGranted(_ user: UserID) -> Bool {
        users.withLock { users in
            guard var creations = users[user], creations.granted > 0 else { return false }
            creations.granted -= 1
            creations.begun += 1
            users[user] = creations
            return true
        }
    }

    private func sharedCount(
        of user: UserID, _ count: @escaping @Sendable () async throws -> Int
    ) -> Task<(number: Int, endedBefore: Int), any Error> {
        users.withLock { users in
            if users[user] == nil, users.count >= Self.userLimit { users.removeAll(keepingCapacity: true) }
            if let count = users[user]?.count { return count }
            let ended = users[user]?.ended ?? 0
            let begun = Task {
                defer { self.users.withLock { $0[user]?.count = nil } }
                return (number: try await count(), endedBefore: ended)
            }
            users[user, default: Creations()].count = begun
            return begun
        }
    }

    /// Lets a creation begin if there is room.
    /// - Returns: the number of live events at most, and whether it is exact
    private func begin(_ user: UserID, counted: (number: Int, endedBefore: Int)) -> (live: Int, isCertain: Bool) {
        users.withLock { users in
            var creations = users[user] ?? Creations()
            let unseen = max(0, creations.begun - counted.endedBefore)
            let live = counted.number + unseen
            if live < limit {
                creations.begun += 1
                creations.granted = (limit - live - 1) / 10
            } else {
                creations.granted = 0
            }
            users[user] = creations
            return (live, unseen == 0)
        }
    }
}

extension EventsModule {
    /// The number of a user's live events, the quota at most.
    /// - Throws: `PostgresError`, `CancellationError`
    func liveEvents(of owner: UserID, atMost limit: Int) async throws -> Int {
        let count = try await database.query(
            """
            SELECT count(*) FROM (
                SELECT 1 FROM \(identifier: EventsProjection.schema).events
                WHERE owner_id = \(owner.rawValue) AND \(EventRow.isLive) LIMIT \(Int64(limit))
            ) AS live
            """
        ).decode(Int64.self)
        return Int(count[0])
    }
}

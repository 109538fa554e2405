public import Encoding
internal import Foundation
public import Postgres

/// Does something with every recorded event, once and in order, on one node at a time. ``SubscriptionRunner`` runs it.
public protocol Subscription: Sendable {
    /// Under which its checkpoint is kept; a new name starts at the beginning of the log.
    var name: String { get }

    var filter: LogFilter { get }

    /// Handles the next events, in the transaction that moves the checkpoint: its writes there happen together with the
    /// checkpoint, or not at all. Its effects elsewhere may happen again.
    /// - Throws: any error; the runner tries again, then parks the stream
    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws
}

extension Subscription {
    public var filter: LogFilter { .everything }
}

/// A stream that a subscription could not go on with. The others go on; this one waits until it is to be retried.
public struct ParkedStream: Sendable, Hashable {
    public var stream: StreamName
    /// The first recorded event that was not handled.
    public var version: Int32
    public var position: Int64
    /// The error's description. Subscriptions must not put secrets in there.
    public var reason: String
    public var parkedAt: Timestamp
    /// An operator asked for another attempt, which has not happened yet.
    public var isToBeRetried: Bool
}

/// What the database knows of subscriptions: for tools, and for tests.
public struct Subscriptions: Sendable {
    let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// Everything up to there is handled or parked; nil for a subscription that never ran.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func position(of subscription: String) async throws -> Int64? {
        try await client.query(
            "SELECT log.follower_position(name) FROM log.follower_leaders WHERE name = \(subscription)"
        ).decode(Int64.self).first
    }

    /// - Throws: ``PostgresError``, or `CancellationError`
    public func parkedStreams(of subscription: String) async throws -> [ParkedStream] {
        try await client.query(
            """
            SELECT stream, version, position, reason, parked_at, is_to_be_retried FROM log.parked_streams
            WHERE follower = \(subscription) ORDER BY position
            """
        ).decode((String, Int32, Int64, String, Timestamp, Bool).self).map {
            stream, version, position, reason, at, isToBeRetried in
            ParkedStream(
                stream: StreamName(stream), version: version, position: position, reason: reason, parkedAt: at,
                isToBeRetried: isToBeRetried)
        }
    }

    /// Lets the leader try again, from where the stream was parked. Without a stream: with all that are parked.
    /// - Throws: ``PostgresError``, or `CancellationError`
    /// - Returns: how many there were to retry
    @discardableResult
    public func retry(_ stream: StreamName? = nil, of subscription: String) async throws -> Int {
        try await client.query(
            """
            UPDATE log.parked_streams SET is_to_be_retried = true
            WHERE follower = \(subscription) AND (\(stream == nil) OR stream = \(stream?.description ?? ""))
            """
        ).affected
    }
}

/// Another node leads by now. No write of the transaction was kept.
struct LeaseLostError: Error, CustomStringConvertible {
    var description: String { "another node leads this subscription" }
}

/// The right to be the one who follows under a name, for a while.
struct Lease: Sendable {
    let subscription: String
    let leader: UUID
    let epoch: Int64
    let seconds: Double
    let client: PostgresClient

    /// Nil while another node has it. The same leader gets it again at once, after a lost connection say.
    static func claim(
        _ subscription: String, leader: UUID, seconds: Double, client: PostgresClient
    ) async throws -> (lease: Lease, position: Int64)? {
        // The second statement's snapshot shows what a former leader committed before the claim.
        let rows = try await client.run([
            "SELECT log.claim_follower(\(subscription), \(leader), \(seconds))", "SELECT log.follower_position(\(subscription))",
        ])
        guard let epoch = try rows[0].decode(Int64.self).first, let position = try rows[1].decode(Int64.self).first else {
            return nil
        }
        return (Lease(subscription: subscription, leader: leader, epoch: epoch, seconds: seconds, client: client), position)
    }

    /// - Throws: ``LeaseLostError``
    func renew() async throws {
        let rows = try await client.query("SELECT log.renew_lease(leader, \(seconds)) FROM log.follower_leaders WHERE \(isHeld)")
        guard rows.count == 1 else { throw LeaseLostError() }
    }

    func release() async throws {
        try await client.run([
            "UPDATE log.follower_leaders SET leader = NULL WHERE \(isHeld)",
            """
            DELETE FROM log.leases
            WHERE holder = \(leader) AND NOT EXISTS (SELECT FROM log.follower_leaders WHERE leader = \(leader))
            """,
        ])
    }

    private var isHeld: SQL { "name = \(subscription) AND leader = \(leader) AND epoch = \(epoch)" }

    /// Keeps the leadership until the end of the transaction, by a row lock. A lock writes no new version of the row.
    /// - Throws: ``LeaseLostError``
    private func hold(in transaction: LeasedConnection) async throws {
        let rows = try await transaction.query("SELECT epoch FROM log.follower_leaders WHERE \(isHeld) FOR SHARE")
        guard rows.count == 1 else { throw LeaseLostError() }
    }

    /// Removes the subscription's former positions from `start` on.
    /// - Returns: the present position
    func prunePositions(from start: Int64) async throws -> Int64 {
        let found = try await client.query("SELECT log.follower_position(\(subscription))").decode(Int64.self)
        let newest = found.first ?? start
        guard newest > start else { return start }
        // Not from the beginning: the index keeps entries of removed rows for as long as a snapshot is open.
        try await client.query(
            """
            DELETE FROM log.follower_positions
            WHERE follower = \(subscription) AND position >= \(start) AND position < \(newest)
            """)
        return newest
    }

    /// Moves the checkpoint, if it is where this leader left it.
    /// - Throws: ``LeaseLostError``
    func move(from old: Int64, to new: Int64, in transaction: LeasedConnection) async throws {
        try await hold(in: transaction)
        let rows = try await transaction.query(
            """
            INSERT INTO log.follower_positions (follower, position)
            SELECT \(subscription), \(new) WHERE log.follower_position(\(subscription)) = \(old)
            """
        )
        guard rows.affected == 1 else { throw LeaseLostError() }
    }

    /// The parked streams; only those with a requested retry, or all.
    func parkedStreams(toBeRetried: Bool) async throws -> [(stream: StreamName, version: Int32)] {
        try await client.query(
            """
            SELECT stream, version FROM log.parked_streams
            WHERE follower = \(subscription) AND (is_to_be_retried OR NOT \(toBeRetried)) ORDER BY position
            """
        ).decode((String, Int32).self).map { (StreamName($0), $1) }
    }

    /// From that event on.
    func park(_ event: RecordedEvent, because error: any Error, in transaction: LeasedConnection) async throws {
        try await transaction.query(
            """
            INSERT INTO log.parked_streams (follower, stream, version, position, reason)
            VALUES (\(subscription), \(event.envelope.stream.description), \(event.envelope.version), \(event.position), \(reason(error)))
            """
        )
    }

    /// - Throws: ``LeaseLostError`` where this leader is none any more
    func unpark(_ stream: StreamName, in transaction: LeasedConnection) async throws {
        try await transaction.query(
            "DELETE FROM log.parked_streams WHERE follower = \(subscription) AND stream = \(stream.description)")
        try await hold(in: transaction)
    }

    /// The retry failed: it waits for the next one. Nothing happens where this leader is none any more.
    func keepParked(_ stream: StreamName, because error: any Error) async throws {
        try await client.query(
            """
            UPDATE log.parked_streams SET is_to_be_retried = false, reason = \(reason(error))
            WHERE follower = \(subscription) AND stream = \(stream.description) AND EXISTS (
                SELECT FROM log.follower_leaders WHERE \(isHeld)
            )
            """
        )
    }

    /// Shortened, because the error of a subscription may be of any length.
    private func reason(_ error: any Error) -> String { String("\(error)".prefix(Self.reasonLimit)) }
    private static let reasonLimit = 1_000
}

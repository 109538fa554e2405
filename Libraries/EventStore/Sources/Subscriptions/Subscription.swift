public import Encoding
internal import Foundation
public import Postgres

/// Handles every recorded event, once and in order, on one node at a time. ``SubscriptionRunner`` runs it.
///
/// ```swift
/// struct Letters: Subscription {
///     let name = "letters"
///     let filter = LogFilter(categories: [BookEvent.category])
///
///     func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {
///         for event in events {
///             let book: EventEnvelope<BookEvent> = try event.decoded()
///             guard case .lent(.present(let reader)) = book.event else { continue }
///             try await transaction.query("INSERT INTO letters (reader, book) VALUES (\(reader), \(book.stream.key))")
///         }
///     }
/// }
/// ```
public protocol Subscription: Sendable {
    /// The name of the subscription's checkpoint. A new name starts at the beginning of the log.
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

/// A stream with an event that the subscription could not handle. The stream waits for a retry, and the other streams go on.
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

/// The stored state of subscriptions, for tools and tests.
public struct Subscriptions: Sendable {
    let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// Returns the checkpoint; nil for a subscription that never ran. All recorded events up to the checkpoint are handled or
    /// parked.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func position(of subscription: String) async throws -> Int64? {
        try await client.query(
            "SELECT log.subscription_position(name) FROM log.subscription_leaders WHERE name = \(subscription)"
        ).decode(Int64.self).first
    }

    /// - Throws: ``PostgresError``, or `CancellationError`
    public func parkedStreams(of subscription: String) async throws -> [ParkedStream] {
        try await client.query(
            """
            SELECT stream, version, position, reason, parked_at, is_to_be_retried FROM log.parked_streams
            WHERE subscription = \(subscription) ORDER BY position
            """
        ).decode((String, Int32, Int64, String, Timestamp, Bool).self).map {
            stream, version, position, reason, at, isToBeRetried in
            ParkedStream(
                stream: StreamName(stream), version: version, position: position, reason: reason, parkedAt: at,
                isToBeRetried: isToBeRetried)
        }
    }

    /// Asks the leader to try a parked stream again, from its first unhandled event. Without a stream, it asks for all parked
    /// streams.
    /// - Returns: the number of streams to retry
    /// - Throws: ``PostgresError``, or `CancellationError`
    @discardableResult
    public func retry(_ stream: StreamName? = nil, of subscription: String) async throws -> Int {
        try await client.query(
            """
            UPDATE log.parked_streams SET is_to_be_retried = true
            WHERE subscription = \(subscription) AND (\(stream == nil) OR stream = \(stream?.description ?? ""))
            """
        ).affected
    }
}

/// Another node leads now. The transaction's writes are rolled back.
struct LeaseLostError: Error, CustomStringConvertible {
    var description: String { "another node leads this subscription" }
}

/// The right of one node to run a subscription for a limited time.
struct Lease: Sendable {
    let subscription: String
    let leader: UUID
    let epoch: Int64
    let seconds: Double
    let client: PostgresClient

    /// Claims the lease. The same leader gets it again immediately, for example after a lost connection.
    /// - Returns: nil while another node holds the lease
    static func claim(
        _ subscription: String, leader: UUID, seconds: Double, client: PostgresClient
    ) async throws -> (lease: Lease, position: Int64)? {
        // The second statement's snapshot shows all commits of a former leader before the claim.
        let rows = try await client.run([
            "SELECT log.claim_subscription(\(subscription), \(leader), \(seconds))",
            "SELECT log.subscription_position(\(subscription))",
        ])
        guard let epoch = try rows[0].decode(Int64.self).first, let position = try rows[1].decode(Int64.self).first else {
            return nil
        }
        return (Lease(subscription: subscription, leader: leader, epoch: epoch, seconds: seconds, client: client), position)
    }

    /// - Throws: ``LeaseLostError``
    func renew() async throws {
        let rows = try await client.query(
            "SELECT log.renew_lease(leader, \(seconds)) FROM log.subscription_leaders WHERE \(isHeld)")
        guard rows.count == 1 else { throw LeaseLostError() }
    }

    func release() async throws {
        try await client.run([
            "UPDATE log.subscription_leaders SET leader = NULL WHERE \(isHeld)",
            """
            DELETE FROM log.leases
            WHERE holder = \(leader) AND NOT EXISTS (SELECT FROM log.subscription_leaders WHERE leader = \(leader))
            """,
        ])
    }

    private var isHeld: SQL { "name = \(subscription) AND leader = \(leader) AND epoch = \(epoch)" }

    /// Keeps the leadership until the end of the transaction, by a row lock. A lock writes no new version of the row.
    /// - Throws: ``LeaseLostError``
    private func hold(in transaction: LeasedConnection) async throws {
        let rows = try await transaction.query("SELECT epoch FROM log.subscription_leaders WHERE \(isHeld) FOR SHARE")
        guard rows.count == 1 else { throw LeaseLostError() }
    }

    /// Removes the subscription's former positions from `start` on.
    /// - Returns: the present position
    func prunePositions(from start: Int64) async throws -> Int64 {
        let found = try await client.query("SELECT log.subscription_position(\(subscription))").decode(Int64.self)
        let newest = found.first ?? start
        guard newest > start else { return start }
        // Not from the beginning: the index keeps entries of removed rows for as long as a snapshot is open.
        try await client.query(
            """
            DELETE FROM log.subscription_positions
            WHERE subscription = \(subscription) AND position >= \(start) AND position < \(newest)
            """)
        return newest
    }

    /// Moves the checkpoint, if it is still at the position that this leader expects.
    /// - Throws: ``LeaseLostError``
    func move(from old: Int64, to new: Int64, in transaction: LeasedConnection) async throws {
        try await hold(in: transaction)
        let rows = try await transaction.query(
            """
            INSERT INTO log.subscription_positions (subscription, position)
            SELECT \(subscription), \(new) WHERE log.subscription_position(\(subscription)) = \(old)
            """
        )
        guard rows.affected == 1 else { throw LeaseLostError() }
    }

    /// The parked streams: all of them, or only the streams with a requested retry.
    func parkedStreams(toBeRetried: Bool) async throws -> [(stream: StreamName, version: Int32)] {
        try await client.query(
            """
            SELECT stream, version FROM log.parked_streams
            WHERE subscription = \(subscription) AND (is_to_be_retried OR NOT \(toBeRetried)) ORDER BY position
            """
        ).decode((String, Int32).self).map { (StreamName($0), $1) }
    }

    /// Parks the stream of an event, from this event on.
    func park(_ event: RecordedEvent, because error: any Error, in transaction: LeasedConnection) async throws {
        try await transaction.query(
            """
            INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
            VALUES (\(subscription), \(event.envelope.stream.description), \(event.envelope.version), \(event.position), \(reason(error)))
            """
        )
    }

    /// - Throws: ``LeaseLostError`` if this node does not lead any more
    func unpark(_ stream: StreamName, in transaction: LeasedConnection) async throws {
        try await transaction.query(
            "DELETE FROM log.parked_streams WHERE subscription = \(subscription) AND stream = \(stream.description)")
        try await hold(in: transaction)
    }

    /// Notes that the retry failed, so that the stream waits for the next one. It has no effect if this node does not lead any
    /// more.
    func keepParked(_ stream: StreamName, because error: any Error) async throws {
        try await client.query(
            """
            UPDATE log.parked_streams SET is_to_be_retried = false, reason = \(reason(error))
            WHERE subscription = \(subscription) AND stream = \(stream.description) AND EXISTS (
                SELECT FROM log.subscription_leaders WHERE \(isHeld)
            )
            """
        )
    }

    /// The error's description. It is shortened, because it may be of any length.
    private func reason(_ error: any Error) -> String { String("\(error)".prefix(Self.reasonLimit)) }
    private static let reasonLimit = 1_000
}

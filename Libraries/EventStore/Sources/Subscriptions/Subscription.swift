public import Encoding
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
///             guard case .lent(let reader) = book.event else { continue }
///             try await transaction.query("INSERT INTO letters (reader, book) VALUES (\(reader), \(book.stream.key))")
///         }
///     }
/// }
/// ```
public protocol Subscription: Sendable {
    /// The name under which the position is stored. A new name starts at the beginning of the log.
    var name: String { get }

    var filter: LogFilter { get }

    /// Has the effects of the next events outside of the transaction, such as a request to another server. No transaction is open
    /// meanwhile. Then ``handle(_:in:)`` gets the same events.
    ///
    /// The runner calls it again after a failure and after a change of the leader, perhaps with fewer or more events, so a
    /// repetition must do no harm. Two nodes may perform the same events at the same moment, and a node that was paused may perform old
    /// events after newer ones: the loss of the lead cancels the task, but a node learns of it only after some seconds.
    /// - Throws: any error; the runner tries again, then parks the stream. After an ``UnavailabilityError``, and a `PostgresError` that no
    ///   event causes, such as a lock or an answer that did not come in time, it tries again for ever
    func perform(_ events: [RecordedEvent]) async throws

    /// Handles the next events, in the transaction that moves the position: its writes there happen together with the move, or
    /// not at all.
    /// - Throws: as ``perform(_:)``
    func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws
}

extension Subscription {
    public var filter: LogFilter { .everything }

    /// This default does nothing.
    /// - Throws: nothing
    public func perform(_ events: [RecordedEvent]) async throws {}

    /// This default does nothing, for a subscription whose effects are all outside of the transaction.
    /// - Throws: nothing
    public func handle(_ events: [RecordedEvent], in transaction: LeasedConnection) async throws {}
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

/// The status of a subscription, for tools.
public struct SubscriptionStatus: Sendable, Hashable {
    public var name: String
    /// All recorded events up to this position are handled or parked.
    public var position: Int64
    /// Number of positions that the log has after this position.
    public var lag: Int64
    /// The name of the leader's session in PostgreSQL, or the number of its process if it has no name; `nil` if no node leads.
    public var leader: String?
    public var parkedStreams: Int64
    /// The error that interrupted the last leader; `nil` once the position has moved since.
    public var interruption: String?
}

/// The stored state of subscriptions, for tools and tests.
public struct Subscriptions: Sendable {
    let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// Returns the position; nil for a subscription that never ran. All recorded events up to the position are handled or parked.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func position(of subscription: String) async throws -> Int64? {
        try await client.query(
            "SELECT position FROM log.subscriptions WHERE name = \(subscription) ORDER BY position DESC LIMIT 1"
        ).decode(Int64.self).first
    }

    /// Returns the status of every subscription that ever ran, ordered by name.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func statuses() async throws -> [SubscriptionStatus] {
        try await client.query(
            """
            SELECT DISTINCT ON (name) name, position, greatest(log.tail() - position, 0), (
                    SELECT coalesce(nullif(a.application_name, ''), l.pid::text)
                    FROM pg_locks AS l LEFT JOIN pg_stat_activity AS a USING (pid)
                    WHERE l.locktype = 'advisory' AND l.classid::bigint = \(Int64(SubscriptionRunner.lockClass))
                        AND l.objid = hashtext(name)::oid AND l.objsubid = 2 AND l.granted
                        AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())
                ), (SELECT count(*) FROM log.parked_streams WHERE subscription = name), interruption
            FROM log.subscriptions ORDER BY name, position DESC
            """
        ).decode((String, Int64, Int64, String?, Int64, String?).self).map {
            SubscriptionStatus(name: $0, position: $1, lag: $2, leader: $3, parkedStreams: $4, interruption: $5)
        }
    }

    /// A sentence about a subscription that never ran; `nil` if it ran.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func absence(of name: String) async throws -> String? {
        let names = try await statuses().map(\.name)
        guard !names.contains(name) else { return nil }
        return "The subscription \(name) never ran; "
            + (names.isEmpty
                ? "this log has no subscription yet." : "the subscriptions are: \(names.joined(separator: ", ")).")
    }

    /// Returns the parked streams, by the position of the first event that waits.
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

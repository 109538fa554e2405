public import Encoding
internal import Postgres

/// The status of a subscription, for tools.
public struct SubscriptionStatus: Sendable, Hashable {
    public var name: String
    /// All recorded events up to this position are handled or parked.
    public var position: Int64
    /// Number of positions that the log has after this position.
    public var lag: Int64
    /// The end of the leader's lease; nil if no node leads.
    public var leasedUntil: Timestamp?
    public var parkedStreams: Int64
}

extension Subscriptions {
    /// Returns the status of every subscription that ever ran, ordered by name.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func statuses() async throws -> [SubscriptionStatus] {
        try await client.query(
            """
            SELECT name, position, greatest(log.tail() - position, 0),
                CASE WHEN leased_until > clock_timestamp() THEN leased_until END,
                (SELECT count(*) FROM log.parked_streams WHERE subscription = name)
            FROM log.subscription_leaders, log.subscription_position(name) AS position, log.leased_until(leader) AS leased_until
            ORDER BY name
            """
        ).decode((String, Int64, Int64, Timestamp?, Int64).self).map { name, position, lag, leasedUntil, parkedStreams in
            SubscriptionStatus(name: name, position: position, lag: lag, leasedUntil: leasedUntil, parkedStreams: parkedStreams)
        }
    }
}

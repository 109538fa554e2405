public import Encoding
internal import Postgres

/// How a subscription is doing, for tools.
public struct SubscriptionStatus: Sendable, Hashable {
    public var name: String
    /// Everything up to there is handled or parked.
    public var position: Int64
    /// How many positions there are behind it.
    public var lag: Int64
    /// The end of the leader's lease; nil if no node leads.
    public var leasedUntil: Timestamp?
    public var parkedStreams: Int64
}

extension Subscriptions {
    /// All that ever ran, by name.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func statuses() async throws -> [SubscriptionStatus] {
        try await client.query(
            """
            SELECT name, position, greatest(log.tail() - position, 0),
                CASE WHEN leased_until > clock_timestamp() THEN leased_until END,
                (SELECT count(*) FROM log.parked_streams WHERE follower = name)
            FROM log.followers ORDER BY name
            """
        ).decode((String, Int64, Int64, Timestamp?, Int64).self).map { name, position, lag, leasedUntil, parkedStreams in
            SubscriptionStatus(name: name, position: position, lag: lag, leasedUntil: leasedUntil, parkedStreams: parkedStreams)
        }
    }
}

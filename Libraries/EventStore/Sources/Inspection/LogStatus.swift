public import Postgres

/// The end of the log, and the progress of the read models and subscriptions that follow it.
public struct LogStatus: Sendable, Hashable {
    /// The position of the last recorded event; 0 for an empty log.
    public var position: Int64
    /// Number of recorded events that a read model does not show yet, by its schema. It lists the program's own read models,
    /// without missing ones.
    public var readModelLags: [String: Int64]
    public var subscriptions: [SubscriptionStatus]

    /// - Throws: `PostgresError`
    public init(of projections: [any Projection], client: PostgresClient) async throws {
        let schemas = projections.map { type(of: $0).schema }
        let found = try await client.run([
            "SELECT log.tail()", "SELECT schema, position FROM log.read_model_positions(\(schemas))",
        ])
        let tail: Int64 = try found[0].decode(Int64.self).first ?? 0
        position = tail
        readModelLags = try found[1].decode((String, Int64).self).reduce(into: [:]) { $0[$1.0] = max(tail - max($1.1, 0), 0) }
        subscriptions = try await Subscriptions(client: client).statuses()
    }
}

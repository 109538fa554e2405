internal import Encoding
internal import Postgres

/// The reports on what follows the log: read models and subscriptions.
extension OperatorReport {
    private static func models(_ query: Query, of modules: [ModuleRegistration]) -> ReadModels {
        ReadModels(projections: modules.projections, client: query.client, logger: query.logger)
    }

    static func readModels(of modules: [ModuleRegistration]) -> OperatorReport {
        OperatorReport("projections list", "List the read models with their state, lag and size.") { query in
            let statuses = try await models(query, of: modules).list()
            try query.show(
                statuses.map {
                    [
                        "name": .string($0.name), "version": JSON($0.version), "schema": .string($0.schema),
                        "state": .string($0.state.rawValue), "position": .integer($0.position), "lag": .integer($0.lag),
                        "lag_seconds": .figure($0.lagSeconds), "bytes": .integer($0.bytes),
                        "built_at": .time($0.builtAt), "in_use": .bool($0.isHeld),
                    ]
                })
            return .complete()
        }
    }

    static let subscriptions = OperatorReport(
        "subscriptions list", "List the subscriptions with their position, lag, lease and parked streams."
    ) { query in
        let statuses = try await Subscriptions(client: query.client).statuses()
        try query.show(
            statuses.map {
                [
                    "subscription": .string($0.name), "position": JSON($0.position), "lag": JSON($0.lag),
                    "lease_ends_at": .time($0.leasedUntil), "parked_streams": JSON($0.parkedStreams),
                ]
            })
        return .complete(ifEmpty: "This log has no subscription yet.")
    }

    static let parkedStreams = OperatorReport(
        "subscriptions parked", "List the parked streams of a subscription, with the reason of each.",
        [.init("name", .text, "The subscription's name.")]
    ) { query in
        let (subscriptions, name) = (Subscriptions(client: query.client), query.arguments.text("name") ?? "")
        if let absence = try await subscriptions.absence(of: name) { return .nothing(absence) }
        let streams = try await subscriptions.parkedStreams(of: name)
        try query.show(
            streams.map {
                [
                    "stream": .string($0.stream.description), "version": JSON($0.version), "position": JSON($0.position),
                    "parked_at": .time($0.parkedAt), "to_be_retried": .bool($0.isToBeRetried), "reason": .string($0.reason),
                ]
            })
        return .complete(ifEmpty: "No stream of \(name) is parked.")
    }
}

extension Subscriptions {
    /// A sentence about a subscription that never ran; `nil` if it ran.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func absence(of name: String) async throws -> String? {
        let names = try await statuses().map(\.name)
        guard !names.contains(name) else { return nil }
        return "The subscription \(name) never ran; "
            + (names.isEmpty
                ? "this log has no subscription yet." : "the subscriptions are: \(names.joined(separator: ", ")).")
    }
}

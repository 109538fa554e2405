internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections list`
struct ProjectionsListCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the read models with their state, lag and size.",
        discussion: """
            States: ready; behind (a server catches up by \
            itself); missing, or ahead of the log (`humon projections rebuild` repairs both); replaced (dropped when no transaction \
            reads it); building; interrupted (the next rebuild continues it); other version.

            EXAMPLE: humon projections list --json
            """)

    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let models = ReadModels(projections: Backend.projections, client: query.client, logger: query.logger)
        try query.show(
            try await models.list().map {
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

/// `humon subscriptions list`
struct SubscriptionsListCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the subscriptions with their position, lag, lease and parked streams.",
        discussion: """
            The lag is a number of positions of the log. A subscription without a lease runs on no server.

            EXAMPLE: humon subscriptions list
            """)

    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        try query.show(
            try await Subscriptions(client: query.client).statuses().map {
                [
                    "subscription": .string($0.name), "position": JSON($0.position), "lag": JSON($0.lag),
                    "lease_ends_at": .time($0.leasedUntil), "parked_streams": JSON($0.parkedStreams),
                ]
            })
        return .complete(ifEmpty: "This log has no subscription yet.")
    }
}

/// `humon subscriptions parked`
struct SubscriptionsParkedCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "parked", abstract: "List the parked streams of a subscription, with the reason of each.",
        discussion: """
            A subscription parks a stream at the first event that it fails to handle, and continues with the other streams. Exits with 2 \
            if the subscription never ran.

            EXAMPLE: humon subscriptions parked feed
            """)

    @Argument(help: "The subscription's name.", transform: Parameter.text)
    var name: String
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let subscriptions = Subscriptions(client: query.client)
        if let absence = try await subscriptions.absence(of: name) { return .nothing(absence) }
        try query.show(
            try await subscriptions.parkedStreams(of: name).map {
                [
                    "stream": .string($0.stream.description), "version": JSON($0.version), "position": JSON($0.position),
                    "parked_at": .time($0.parkedAt), "to_be_retried": .bool($0.isToBeRetried), "reason": .string($0.reason),
                ]
            })
        return .complete(ifEmpty: "No stream of \(name) is parked.")
    }
}

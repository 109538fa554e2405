internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon subscriptions list`
struct SubscriptionsListCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the subscriptions with their position, lag, leader and parked streams.",
        discussion: """
            The lag is a number of positions of the log. The leader is the session of a server. A subscription without one runs nowhere.

            EXAMPLE: humon subscriptions list
            """)

    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        try query.show(
            try await Subscriptions(client: query.client).statuses().map {
                [
                    "subscription": .string($0.name), "position": JSON($0.position), "lag": JSON($0.lag),
                    "leader": JSON($0.leader), "parked_streams": JSON($0.parkedStreams),
                ]
            })
        return .complete(ifEmpty: "This log has no subscription yet.")
    }
}

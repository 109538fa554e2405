internal import ArgumentParser
internal import Encoding
internal import EventStore

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

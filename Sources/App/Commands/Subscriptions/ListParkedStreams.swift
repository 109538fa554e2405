internal import ArgumentParser
internal import EventStore

/// `humon subscriptions parked`
struct ListParkedStreams: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "parked",
        abstract: "List the streams that a subscription could not go on with, and why.",
        discussion: """
            A stream is parked from a version on, at a position; the others go on. Exits with 2 for a subscription that never ran.

            EXAMPLE: humon subscriptions parked feed
            """
    )

    @Argument(help: "The subscription's name.")
    var name: String

    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await options.reading { client, output in
            let subscriptions = Subscriptions(client: client)
            try await subscriptions.requireSubscription(name)
            let rows: [[Field]] = try await subscriptions.parkedStreams(of: name).map { parked in
                [
                    .text(parked.stream.description), .number(parked.version), .number(parked.position), .time(parked.parkedAt),
                    .flag(parked.isToBeRetried), .text(parked.reason),
                ]
            }
            try output.write(
                Table("stream", "version", "position", "since", "to_be_retried", "reason", rows: rows),
                whenEmpty: "No stream of \(name) is parked.")
        }
    }
}

extension Subscriptions {
    /// - Throws: ``NegativeResult`` with a sentence for one that never ran
    func requireSubscription(_ name: String) async throws {
        guard try await position(of: name) == nil else { return }
        let names = try await statuses().map(\.name)
        throw NegativeResult(
            "There is no subscription \(name); "
                + (names.isEmpty ? "nobody has followed this log yet." : "there are: \(names.joined(separator: ", ")).")
        )
    }
}

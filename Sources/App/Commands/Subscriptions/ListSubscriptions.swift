internal import ArgumentParser
internal import EventStore

/// `humon subscriptions list`
struct ListSubscriptions: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the subscriptions: how far they are, who leads, what is parked.",
        discussion: """
            A subscription's lag counts positions of the log. Where nobody leads there is no lease: no server runs it.

            EXAMPLE: humon subscriptions list
            """
    )

    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await options.reading { client, output in
            let subscriptions = try await Subscriptions(client: client).statuses()
            let rows: [[Field]] = subscriptions.map { subscription in
                [
                    .text(subscription.name), .number(subscription.position), .count(subscription.lag),
                    .time(subscription.leasedUntil),
                    .count(subscription.parkedStreams),
                ]
            }
            try output.write(
                Table("subscription", "position", "lag", "leased_until", "parked_streams", rows: rows),
                whenEmpty: "Nobody has followed this log yet.")
        }
    }
}

internal import ArgumentParser
internal import EventStore

/// `humon subscriptions list`
struct SubscriptionsList: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = ["subscription", "position", "lag", Column("leased_until", yields: true), "parked_streams"]

    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the subscriptions with their position, lag, lease and parked streams.",
        discussion: """
            The lag is a number of positions of the log. A subscription without a lease runs on no server.

            EXAMPLE: humon subscriptions list
            """
    )

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await database.reading(options.output(table)) { client, output in
            let subscriptions = try await Subscriptions(client: client).statuses()
            let rows: [[Field]] = subscriptions.map { subscription in
                [
                    .text(subscription.name), .number(subscription.position), .count(subscription.lag),
                    .time(subscription.leasedUntil),
                    .count(subscription.parkedStreams),
                ]
            }
            try output.write(
                Table(columns: Self.columns, rows: rows),
                whenEmpty: "This log has no subscription yet.")
        }
    }
}

internal import ArgumentParser
internal import EventStore

/// `humon subscriptions parked`
struct SubscriptionsParked: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = ["stream", "version", "position", Column("since", yields: true), "to_be_retried", "reason"]

    static let configuration = CommandConfiguration(
        commandName: "parked",
        abstract: "List the parked streams of a subscription, with the reason of each.",
        discussion: """
            A subscription parks a stream at the first event that it fails to handle, and continues with the other streams. Exits with 2 \
            if the subscription never ran.

            EXAMPLE: humon subscriptions parked feed
            """
    )

    @Argument(help: "The subscription's name.")
    var name: String

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await database.reading(options.output(table)) { client, output in
            let subscriptions = Subscriptions(client: client)
            try await subscriptions.requireSubscription(name)
            let rows: [[Field]] = try await subscriptions.parkedStreams(of: name).map { parked in
                [
                    .text(parked.stream.description), .number(parked.version), .number(parked.position), .time(parked.parkedAt),
                    .flag(parked.isToBeRetried), .text(parked.reason),
                ]
            }
            try output.write(
                Table(columns: Self.columns, rows: rows),
                whenEmpty: "No stream of \(name) is parked.")
        }
    }
}

extension Subscriptions {
    /// - Throws: ``NegativeResult`` if the subscription never ran; `PostgresError`
    func requireSubscription(_ name: String) async throws {
        guard try await position(of: name) == nil else { return }
        let names = try await statuses().map(\.name)
        throw NegativeResult(
            "The subscription \(name) never ran; "
                + (names.isEmpty
                    ? "this log has no subscription yet." : "the subscriptions are: \(names.joined(separator: ", ")).")
        )
    }
}

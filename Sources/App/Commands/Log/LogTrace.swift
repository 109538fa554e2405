internal import ArgumentParser
internal import EventStore

/// `humon log trace`
struct LogTrace: AsyncParsableCommand, TableCommand {
    static let columns = RecordedEvent.columns

    private static let limit = 10_000

    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Show the events that one request or one trace caused, in order.",
        discussion: """
            Exits with 2 if it caused no event.

            EXAMPLE: humon log trace 0af7651916cd43dd8448eb211c80319c
            """
    )

    @Argument(help: "The X-Request-Id of a response, or a W3C trace id.")
    var id: String

    @OptionGroup var options: ReadingOptions<Self>

    func run() async throws {
        try await options.reading { client, output in
            let search = EventStore.LogSearch(client: client, criteria: LogCriteria(cause: id))
            let found = try await search.find(limit: Self.limit)
            guard !found.events.isEmpty else { throw NegativeResult("No event was recorded for \(id).") }
            var rows = output.rows(RecordedEvent.columns)
            try rows.write(found.events.reversed().map { $0.row(showing: options.personalData) })
            guard found.events.count == Self.limit, let next = found.continuesBefore else { return }
            output.note(
                "These are the last \(Self.limit) events. For older events: humon log search --request \(id) --before \(next)"
            )
        }
    }
}

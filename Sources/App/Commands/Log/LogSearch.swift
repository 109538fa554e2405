internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log search`
struct LogSearch: AsyncParsableCommand, TableCommand {
    static let columns = RecordedEvent.columns

    static let configuration = CommandConfiguration(
        commandName: "search",
        abstract: "Find recorded events, newest first.",
        discussion: """
            A recorded event must match all options. Most searches use an index. A search by --text, alone or with only \
            types, categories and --until, reads the data itself: at most --scan positions, then it prints the option that \
            continues the search. Exits with 2 if no event in the whole log matches.

            EXAMPLE: humon log search --category event --actor 7 --since 7d
            """
    )

    @OptionGroup var kinds: FilterOptions

    @Option(help: ArgumentHelp("Only events that this user caused.", valueName: "user id"))
    var actor: Int64?

    @Option(help: ArgumentHelp("Only events that the request with this X-Request-Id caused.", valueName: "request id"))
    var request: String?

    @Option(help: ArgumentHelp("Only events that the trace with this W3C trace id caused.", valueName: "trace id"))
    var trace: String?

    @Option(help: "Only events recorded at or after this time: \(TimeArgument.help)", transform: TimeArgument.parse)
    var since: Timestamp?

    @Option(help: "Only events recorded before this time: \(TimeArgument.help)", transform: TimeArgument.parse)
    var until: Timestamp?

    @Option(help: "Only events with exactly this text in their data.")
    var text: String?

    @Option(help: "The maximum number of events.", transform: LimitArgument.parse)
    var limit = 20

    @Option(
        help: ArgumentHelp(
            "Only events before this position, which is the last one of the previous page.", valueName: "position"))
    var before: Int64?

    @Option(help: ArgumentHelp("The maximum number of positions to read for --text.", valueName: "positions"))
    var scan: Int64 = EventStore.LogSearch.usualReach

    @OptionGroup var options: ReadingOptions<Self>

    /// - Throws: `ValidationError`
    func validate() throws {
        guard scan > 0 else { throw ValidationError("--scan must be at least 1.") }
        guard before.map({ $0 > 0 }) ?? true else { throw ValidationError("Positions start at 1.") }
        guard text?.isEmpty != true else { throw ValidationError("--text must not be empty.") }
    }

    private var criteria: LogCriteria {
        LogCriteria(
            filter: kinds.filter, actor: actor, requestID: request, traceID: trace, since: since, until: until, text: text)
    }

    func run() async throws {
        try await options.reading { client, output in
            let search = EventStore.LogSearch(client: client, criteria: criteria)
            var bar = ProgressBar("positions")
            let found = try await search.find(before: before, limit: limit, reach: scan) { bar.show($0, of: $1) }
            bar.stop()
            guard !found.events.isEmpty || found.continuesBefore != nil else { throw NegativeResult("No event matches.") }
            var rows = output.rows(RecordedEvent.columns)
            try rows.write(found.events.map { $0.row(showing: options.personalData) })
            guard let next = found.continuesBefore else { return }
            output.note(
                found.isOutOfReach
                    ? "Stopped before position \(next), \(Field.grouped(scan)) positions back. To go on: --before \(next); or --since, or more with --scan."
                    : "There may be more: --before \(next)")
        }
    }
}

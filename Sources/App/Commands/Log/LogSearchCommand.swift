internal import ArgumentParser
internal import Encoding
internal import EventStore

extension Log {
    /// `humon log search`
    struct LogSearchCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "search",
            abstract: "Find recorded events, newest first.",
            discussion: """
                All that is given must hold. An index passes over what cannot hold it; only --text alone, or with nothing but types, \
                categories and --until, reads the data itself: of --scan positions at most, then it says how to go on. Exits with 2 \
                when there is nothing in the whole log.

                EXAMPLE: humon log search --category event --actor 7 --since 7d
                """
        )

        @OptionGroup var kinds: FilterOptions

        @Option(help: ArgumentHelp("Only what this user asked for.", valueName: "user id"))
        var actor: Int64?

        @Option(help: ArgumentHelp("Only what this request caused: its X-Request-Id.", valueName: "request id"))
        var request: String?

        @Option(help: ArgumentHelp("Only what this trace caused: its W3C trace id.", valueName: "trace id"))
        var trace: String?

        @Option(help: "Only what was recorded since: \(TimeArgument.help)", transform: TimeArgument.parse)
        var since: Timestamp?

        @Option(help: "Only what was recorded before: \(TimeArgument.help)", transform: TimeArgument.parse)
        var until: Timestamp?

        @Option(help: "Only where this stands in the data, letter for letter.")
        var text: String?

        @Option(help: "How many at most.", transform: LimitArgument.parse)
        var limit = 20

        @Option(help: ArgumentHelp("Only what stands before: the last position of the page before.", valueName: "position"))
        var before: Int64?

        @Option(help: ArgumentHelp("How many positions to read for --text.", valueName: "positions"))
        var scan: Int64 = LogSearch.usualReach

        @OptionGroup var personal: RevealOptions
        @OptionGroup var options: OutputOptions

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
                let search = LogSearch(client: client, criteria: criteria)
                var bar = ProgressBar("positions")
                let found = try await search.find(before: before, limit: limit, reach: scan) { bar.show($0, of: $1) }
                bar.stop()
                guard !found.events.isEmpty || found.continuesBefore != nil else { throw NegativeResult("Nothing found.") }
                var rows = output.rows(RecordedEvent.columns)
                try rows.write(found.events.map { $0.row(showing: personal.personalData) })
                guard let next = found.continuesBefore else { return }
                output.note(
                    found.isOutOfReach
                        ? "Stopped before position \(next), \(Field.grouped(scan)) positions back. To go on: --before \(next); or --since, or more with --scan."
                        : "There may be more: --before \(next)")
            }
        }
    }
}

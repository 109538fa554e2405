internal import ArgumentParser
internal import EventStore

extension Log {
    /// `humon log stats`
    struct LogStatsCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats",
            abstract: "Count what the log holds, by category and type.",
            discussion: """
                Reads the whole log, in short pages. The size is that of data and metadata; the rate is so many a day between the \
                first and the last. The last row is all of them.

                EXAMPLE: humon log stats --json
                """
        )

        @OptionGroup var options: OutputOptions

        func run() async throws {
            try await options.reading { client, output in
                var bar = ProgressBar("events")
                let statistics = try await LogStatistics(of: LogReader(client: client)) { bar.show($0, of: $1) }
                var table = Table("category", "type", "events", "bytes", "first_at", "last_at", "per_day")
                for (kind, figures) in statistics.kinds.sorted(by: { $0.key < $1.key }) {
                    table.rows.append([.text(kind.category), .text(kind.type)] + fields(figures))
                }
                if let total = statistics.total { table.rows.append([.text("(all)"), .text("(all)")] + fields(total)) }
                try output.write(table, whenEmpty: "The log is empty.")
            }
        }

        private func fields(_ figures: LogStatistics.Figures) -> [Field] {
            [
                .count(figures.count), .bytes(figures.bytes), .time(figures.firstAt), .time(figures.lastAt),
                figures.perDay.map { .rate($0) } ?? .none,
            ]
        }
    }
}

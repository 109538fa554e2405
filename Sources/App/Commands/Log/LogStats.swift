internal import ArgumentParser
internal import EventStore

/// `humon log stats`
struct LogStats: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = [
        "category", "type", "events", "bytes", Column("first_at", yields: true), Column("last_at", yields: true), "per_day",
    ]

    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count the recorded events by category and type.",
        discussion: """
            Reads the whole log, in short pages. The size counts data and metadata. The rate is the number of events per day \
            between the first and the last event. The last row is the sum.

            EXAMPLE: humon log stats --json
            """
    )

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await database.reading(options.output(table)) { client, output in
            var bar = ProgressBar("events")
            let statistics = try await LogStatistics(of: LogReader(client: client)) { bar.show($0, of: $1) }
            var found = Table(columns: Self.columns)
            for (kind, figures) in statistics.kinds.sorted(by: { $0.key < $1.key }) {
                found.rows.append([.text(kind.category), .text(kind.type)] + fields(figures))
            }
            if let total = statistics.total { found.rows.append([.text("(all)"), .text("(all)")] + fields(total)) }
            try output.write(found, whenEmpty: "The log is empty.")
        }
    }

    private func fields(_ figures: LogStatistics.Figures) -> [Field] {
        [
            .count(figures.count), .bytes(figures.bytes), .time(figures.firstAt), .time(figures.lastAt),
            figures.perDay.map { .rate($0) } ?? .none,
        ]
    }
}

internal import ArgumentParser
internal import EventStore

/// `humon streams list`
struct StreamsList: AsyncParsableCommand, TableCommand {
    static let columns: [Column] = ["category", "stream", "events", "first_at", Column("last_at", yields: true)]

    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the streams page by page, with the number of their recorded events and their times.",
        discussion: """
            The streams are sorted by the bytes of their names: event-10 comes before event-9. The command reads only the \
            streams of the page.

            EXAMPLE: humon streams list --category event --after event-12 --limit 20
            """
    )

    @Option(help: "Only streams of this category, such as event.")
    var category: String?

    @Option(
        help: ArgumentHelp("Only streams after this one, which is the last stream of the previous page.", valueName: "stream")
    )
    var after: String?

    @Option(help: "The maximum number of streams.", transform: LimitArgument.parse)
    var limit = 50

    @OptionGroup var table: TableOptions<Self>
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        if let category { try FilterOptions.requireCategory(category) }
    }

    func run() async throws {
        try await database.reading(options.output(table)) { client, output in
            let streams = try await LogReader(client: client).streams(
                ofCategory: category, after: after.map { StreamName($0) }, limit: Int64(limit))
            var found = Table(columns: Self.columns)
            for stream in streams {
                found.append(
                    .text(stream.stream.category), .text(stream.stream.description), .count(Int64(stream.version)),
                    .time(stream.firstAt), .time(stream.lastAt))
            }
            try output.write(found, whenEmpty: "There are no streams\(after.map { " after \($0)" } ?? "").")
            guard let last = streams.last, streams.count == limit else { return }
            output.note("There may be more: --after \(last.stream)")
        }
    }
}

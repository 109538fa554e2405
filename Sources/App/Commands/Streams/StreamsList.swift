internal import ArgumentParser
internal import EventStore

extension Streams {
    /// `humon streams list`
    struct List: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List the streams, page by page, with their counts and times.",
            discussion: """
                In the order of the bytes of their names: event-10 before event-9. However large the log, only the streams of the \
                page are read.

                EXAMPLE: humon streams list --category event --after event-12 --limit 20
                """
        )

        @Option(help: "Only streams of this category, such as event.")
        var category: String?

        @Option(help: ArgumentHelp("Only streams behind this one: the last of the page before.", valueName: "stream"))
        var after: String?

        @Option(help: "How many at most.", transform: LimitArgument.parse)
        var limit = 50

        @OptionGroup var options: OutputOptions

        func validate() throws {
            if let category { try FilterOptions.requireCategory(category) }
        }

        func run() async throws {
            try await options.reading { client, output in
                let streams = try await LogReader(client: client).streams(
                    ofCategory: category, after: after.map { StreamName($0) }, limit: Int64(limit))
                var table = Table("category", "stream", "events", "first_at", "last_at")
                for found in streams {
                    table.append(
                        .text(found.stream.category), .text(found.stream.description), .count(Int64(found.version)),
                        .time(found.firstAt), .time(found.lastAt))
                }
                try output.write(table, whenEmpty: "There are no streams\(after.map { " behind \($0)" } ?? "").")
                guard let last = streams.last, streams.count == limit else { return }
                output.note("There may be more: --after \(last.stream)")
            }
        }
    }
}

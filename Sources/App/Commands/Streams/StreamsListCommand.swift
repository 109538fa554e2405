internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon streams list`
struct StreamsListCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "List the streams page by page, with the number of their recorded events and their times.",
        discussion: """
            The streams are sorted by the bytes of their names: event-10 comes before event-9. The command reads only the \
            streams of the page.

            EXAMPLE: humon streams list --category event --after event-12 --limit 20
            """)

    private static let usualLimit: Int64 = 50

    @OptionGroup var streams: CategoryOption
    @Option(
        help: ArgumentHelp(
            "Only streams after this one, which is the last stream of the previous page.", valueName: "stream"),
        transform: Parameter.text)
    var after: String?
    @Option(help: "The maximum number of streams. Default: \(usualLimit).", transform: Parameter.limit)
    var limit: Int64?
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let limit = limit ?? Self.usualLimit
        let found = try await LogReader(client: query.client).streams(
            ofCategory: streams.category, after: after.map { StreamName($0) }, limit: limit)
        try query.show(
            found.map {
                [
                    "category": .string($0.stream.category), "stream": .string($0.stream.description),
                    "events": JSON($0.version), "first_at": .time($0.firstAt), "last_at": .time($0.lastAt),
                ]
            })
        guard let last = found.last, found.count == limit else {
            return .complete(ifEmpty: "There are no streams\(after.map { " after \($0)" } ?? "").")
        }
        return .more(option: "after", argument: "\(last.stream)")
    }
}

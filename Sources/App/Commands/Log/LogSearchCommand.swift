internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log search`
struct LogSearchCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "search", abstract: "Find recorded events, newest first.",
        discussion: """
            A recorded event must match all options. Most searches use an index. A search by --text, alone or with only \
            --type, --category and --until, reads the data itself: at most --scan positions, then it prints the option that \
            continues the search. Exits with 2 if no event in the whole log matches.

            EXAMPLE: humon log search --category event --actor 7 --since 7d
            """)

    private static let usualLimit: Int64 = 20

    @OptionGroup var kind: KindOptions
    @Option(
        help: ArgumentHelp("Only events that this user caused.", valueName: "user id"), transform: Parameter.fromOne)
    var actor: Int64?
    @Option(
        help: ArgumentHelp("Only events that the request with this X-Request-Id caused.", valueName: "request id"),
        transform: Parameter.text)
    var request: String?
    @Option(
        help: ArgumentHelp("Only events that the trace with this W3C trace id caused.", valueName: "trace id"),
        transform: Parameter.text)
    var trace: String?
    @Option(help: "Only events recorded at or after this time: \(Parameter.timeHelp)", transform: Parameter.time)
    var since: Timestamp?
    @Option(help: "Only events recorded before this time: \(Parameter.timeHelp)", transform: Parameter.time)
    var until: Timestamp?
    @Option(help: "Only events with exactly this text in their data.", transform: Parameter.text)
    var text: String?
    @Option(help: "The maximum number of events. Default: \(usualLimit).", transform: Parameter.limit)
    var limit: Int64?
    @OptionGroup var page: BeforeOption
    @Option(
        help: ArgumentHelp(
            "The maximum number of positions to read for a text. Default: \(LogSearch.usualReach).", valueName: "positions"),
        transform: Parameter.fromOne)
    var scan: Int64?
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let criteria = LogCriteria(
            type: kind.type, category: kind.category, actor: actor, requestID: request, traceID: trace, since: since,
            until: until, text: text)
        let (limit, reach) = (Int(limit ?? Self.usualLimit), scan ?? LogSearch.usualReach)
        let found = try await LogSearch(client: query.client, criteria: criteria).find(
            before: page.position(query.client), limit: limit, reach: reach, progress: query.progress)
        try query.show(found.events.map(personal.redaction.row))
        guard let next = found.continuesBefore else {
            return found.events.isEmpty ? .nothing("No event matches.") : .complete()
        }
        return .more(
            before: try await LogReader(client: query.client).cursor(at: next),
            because: found.events.count < limit ? "Stopped before position \(next), \(reach) positions back." : nil)
    }
}

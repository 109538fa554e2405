internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log trace`
struct LogTraceCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Show the events that one request or one trace caused, in order.",
        discussion: """
            Exits with 2 if it caused no event.

            EXAMPLE: humon log trace 0af7651916cd43dd8448eb211c80319c
            """)
    /// The largest number of events.
    private static let limit = 10_000

    @Argument(help: "The X-Request-Id of a response, or a W3C trace id.", transform: Parameter.text)
    var id: String
    @OptionGroup var page: BeforeOption
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        var found: [Int64: RecordedEvent] = [:]
        // A proxy may send the same id as both.
        let before = try await page.position(query.client)
        for criteria in [LogCriteria(requestID: id), LogCriteria(traceID: id)] {
            let search = LogSearch(client: query.client, criteria: criteria)
            for event in try await search.find(before: before, limit: Self.limit).events { found[event.position] = event }
        }
        let events = found.values.sorted { $0.position < $1.position }.suffix(Self.limit)
        guard let first = events.first else { return .nothing("No event was recorded for \(id).") }
        try query.show(events.map(personal.redaction.row))
        guard events.count == Self.limit else { return .complete() }
        return .more(
            before: LogCursor(position: first.position, of: first.envelope), because: "These are the last events.")
    }
}

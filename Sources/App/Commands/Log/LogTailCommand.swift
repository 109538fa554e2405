internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log tail`
struct LogTailCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the last recorded events, and new events as they come.",
        discussion: """
            The events come in the order of the log. --since shows all events since that time; with -n only the last of them. -f ends with \
            Ctrl-C.

            EXAMPLE: humon log tail -f --category attendance
            """)

    private static let usualLimit: Int64 = 20

    @Flag(name: .shortAndLong, help: "Go on with new events as they come.")
    var follow = false
    @Option(
        name: [.customShort("n"), .long], help: "The maximum number of events: \(usualLimit), unless a time is given.",
        transform: Parameter.limit)
    var limit: Int64?
    @OptionGroup var kind: KindOptions
    @Option(help: "Only events recorded at or after this time: \(Parameter.timeHelp)", transform: Parameter.time)
    var since: Timestamp?
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let (reader, shown) = (LogReader(client: query.client), personal.redaction)
        let tail = try await reader.tail()
        var position = tail
        if limit != nil || since == nil {
            let criteria = LogCriteria(type: kind.type, category: kind.category, since: since)
            let search = LogSearch(client: query.client, criteria: criteria)
            let found = try await search.find(before: tail + 1, limit: Int(limit ?? Self.usualLimit)).events
            try query.show(found.reversed().map(shown.row))
        } else if let since {
            position = try await LogTimes(client: query.client, tail: tail).position(before: since)
        }
        guard follow || position < tail else { return .complete() }
        let filter = LogFilter(
            categories: Set([kind.category].compactMap(\.self)), types: Set([kind.type].compactMap(\.self)))
        let notifier = LogNotifier(client: query.client, listens: follow, logger: query.logger)
        return try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await notifier.run() }
            defer { group.cancelAll() }
            for try await page in LogTail(client: query.client, notifier: notifier, after: position, filter: filter) {
                let events = page.events.filter { event in since.map { event.envelope.recordedAt >= $0 } ?? true }
                try query.show(events.map(shown.row))
                if !follow, page.through >= tail { break }
            }
            return .complete()
        }
    }
}

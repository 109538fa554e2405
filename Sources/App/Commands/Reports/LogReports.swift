internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Postgres

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

/// `humon log show`
struct LogShowCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the recorded event at a position.",
        discussion: """
            Exits with 2 if the log has no such position.

            EXAMPLE: humon log show 1042
            """)
    static let isTable = false

    @Argument(help: "The position, from 1.", transform: Parameter.number(1...LogReader.positionLimit))
    var position: Int64
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let reader = LogReader(client: query.client)
        let tail = try await reader.tail()
        guard position <= tail, let recorded = try await reader.read(position: position) else {
            return .nothing("The log has no position \(position); it ends at \(tail).")
        }
        try query.show([personal.redaction.row(of: recorded)])
        return .complete()
    }
}

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
            option: "before", argument: "\(try await LogReader(client: query.client).cursor(at: next))",
            because: found.events.count < limit ? "Stopped before position \(next), \(reach) positions back." : nil)
    }
}

/// The option that shows the page before another one.
struct BeforeOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Only events before this position, which is the last one of the previous page.", valueName: "position"),
        transform: Parameter.cursor)
    var before: LogCursor?

    /// - Throws: ``CommandFailure`` for a position of another history of the log, `PostgresError`
    func position(_ client: PostgresClient) async throws -> Int64? {
        guard let before, before.mark != nil else { return before?.position }
        guard try await LogReader(client: client).cursor(at: before.position) == before else {
            throw CommandFailure(
                "The log has no event \(before): it was restored, or this is another database. Begin again without --before.")
        }
        return before.position
    }
}

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
            option: "before", argument: "\(LogCursor(position: first.position, of: first.envelope))",
            because: "These are the last events.")
    }
}

/// `humon log stats`
struct LogStatsCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats", abstract: "Count the recorded events by category and type.",
        discussion: """
            Reads the whole log with one statement, for at most ten minutes. The size counts data and metadata. The rate is the number of \
            events per day between the first and the last event. The last row is the sum.

            EXAMPLE: humon log stats --json
            """)

    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        try query.show(
            try await LogStatistics.read(query.client).map {
                [
                    "category": .string($0.category), "type": .string($0.type), "events": JSON($0.events),
                    "bytes": JSON($0.bytes), "first_at": .time($0.firstAt), "last_at": .time($0.lastAt),
                    "per_day": .figure($0.perDay),
                ]
            })
        return .complete(ifEmpty: "The log is empty.")
    }
}

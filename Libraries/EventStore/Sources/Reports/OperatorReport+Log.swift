internal import Encoding
internal import Foundation
internal import Postgres

/// The reports on recorded events, which all have the same columns.
extension OperatorReport {
    /// A recorded event with what the operator may see of it.
    struct EventRow: Sendable {
        let recorded: RecordedEvent
        /// `nil` if it cannot be read: a verification of the log reports that.
        let metadata: Metadata.Values?
        let data: JSON
    }

    private static let eventColumns: [RowColumn<EventRow>] = [
        .number("position", length: 9) { $0.recorded.position },
        .time("recorded_at") { $0.recorded.envelope.recordedAt },
        .text("stream", length: 14) { $0.recorded.envelope.stream.description },
        .number("version", .side) { Int64($0.recorded.envelope.version) },
        .text("type", length: 15) { $0.recorded.envelope.event.type },
        .number("format", .detail) { Int64($0.recorded.envelope.event.format) },
        .text("id", .detail) { $0.recorded.envelope.id.uuidString.lowercased() },
        .number("actor", .side, length: 6) { $0.metadata?.actor },
        .text("request_id", .side, length: 12) { $0.metadata?.requestID },
        .text("trace_id", .detail) { $0.metadata?.traceID },
        .json("data") { $0.data },
    ]

    static func onEvents(
        _ name: String, _ summary: String, _ parameters: [ReportParameter], form: Form = .table, of modules: [Module],
        read: @escaping @Sendable (Query<RecordedEvent>) async throws -> ReportEnd
    ) -> OperatorReport {
        OperatorReport(name, summary, parameters + [.reveal], eventColumns, form: form) { query in
            let personalData = query.arguments.personalData(of: modules)
            return try await read(
                Query(client: query.client, arguments: query.arguments, logger: query.logger, progress: query.progress) {
                    events in
                    try query.show(events.map { EventRow($0, showing: personalData) })
                })
        }
    }

    static func tail(of modules: [Module]) -> OperatorReport {
        let parameters: [ReportParameter] = [
            .init("follow", .flag, "Go on with new events as they come."),
            .init("limit", .number(ReportParameter.limits), "The maximum number of events: 20, unless a time is given."),
        ]
        return onEvents(
            "log tail", "Show the last recorded events, and new events as they come.",
            parameters + ReportParameter.filter(of: modules) + [.since], of: modules
        ) { query in
            let (reader, arguments) = (LogReader(client: query.client), query.arguments)
            let (filter, since) = (arguments.filter, arguments.time("since"))
            let tail = try await reader.tail()
            var position = tail
            if arguments.isSet("limit") || since == nil {
                let search = LogSearch(client: query.client, criteria: LogCriteria(filter: filter, since: since))
                try query.show(try await search.find(before: tail + 1, limit: arguments.limit ?? 20).events.reversed())
            } else if let since {
                position = try await LogTimes(client: query.client).position(before: since)
            }
            let follows = arguments.isSet("follow")
            guard follows || position < tail else { return .complete() }
            let notifier = LogNotifier(client: query.client, listens: follows, logger: query.logger)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await notifier.run() }
                defer { group.cancelAll() }
                for try await page in LogTail(client: query.client, notifier: notifier, after: position, filter: filter) {
                    try query.show(page.events.filter { event in since.map { event.envelope.recordedAt >= $0 } ?? true })
                    if !follows, page.through >= tail { break }
                }
                return .complete()
            }
        }
    }

    static func recordedEvent(of modules: [Module]) -> OperatorReport {
        onEvents(
            "log show", "Show the recorded event at a position.",
            [.init("position", .number(1...LogReader.positionLimit), "The position, from 1.")], form: .details, of: modules
        ) { query in
            let (reader, position) = (LogReader(client: query.client), query.arguments.number("position") ?? 0)
            let tail = try await reader.tail()
            guard position <= tail, let recorded = try await reader.read(position: position) else {
                return .nothing("The log has no position \(position); it ends at \(tail).")
            }
            try query.show([recorded])
            return .complete()
        }
    }

    static func search(of modules: [Module]) -> OperatorReport {
        let parameters: [ReportParameter] = [
            .init("actor", .number(1...(.max)), label: "user id", "Only events that this user caused."),
            .init("request", .text, label: "request id", "Only events that the request with this X-Request-Id caused."),
            .init("trace", .text, label: "trace id", "Only events that the trace with this W3C trace id caused."),
            .since,
            .init("until", .time, "Only events recorded before this time: \(ReportParameter.timeHelp)"),
            .init("text", .text, "Only events with exactly this text in their data."),
            .limit(20, of: "events"), .before,
            .init(
                "scan", .number(1...(.max)), label: "positions", usual: String(LogSearch.usualReach),
                "The maximum number of positions to read for a text."),
        ]
        return onEvents(
            "log search", "Find recorded events, newest first.", ReportParameter.filter(of: modules) + parameters, of: modules
        ) { query in
            let arguments = query.arguments
            let criteria = LogCriteria(
                filter: arguments.filter, actor: arguments.number("actor"), requestID: arguments.text("request"),
                traceID: arguments.text("trace"), since: arguments.time("since"), until: arguments.time("until"),
                text: arguments.text("text"))
            let reach = arguments.number("scan") ?? LogSearch.usualReach
            let found = try await LogSearch(client: query.client, criteria: criteria).find(
                before: arguments.number("before"), limit: arguments.limit ?? 0, reach: reach, progress: query.progress)
            try query.show(found.events)
            guard let next = found.continuesBefore else {
                return found.events.isEmpty ? .nothing("No event matches.") : .complete()
            }
            return .more(
                parameter: "before", argument: "\(next)",
                because: found.isOutOfReach ? "Stopped before position \(next), \(reach) positions back." : nil)
        }
    }

    static func trace(of modules: [Module]) -> OperatorReport {
        onEvents(
            "log trace", "Show the events that one request or one trace caused, in order.",
            [.init("id", .text, "The X-Request-Id of a response, or a W3C trace id."), .before], of: modules
        ) { query in
            let id = query.arguments.text("id") ?? ""
            let found = try await LogSearch(client: query.client, criteria: LogCriteria(cause: id)).find(
                before: query.arguments.number("before"), limit: Int(ReportParameter.limits.upperBound))
            guard !found.events.isEmpty else { return .nothing("No event was recorded for \(id).") }
            try query.show(found.events.reversed())
            return found.continuesBefore.map {
                .more(parameter: "before", argument: "\($0)", because: "These are the last events.")
            }
                ?? .complete()
        }
    }

    static let statistics = OperatorReport(
        "log stats", "Count the recorded events by category and type.", [],
        [
            .text("category") { $0.category }, .text("type") { $0.type }, .count("events") { $0.figures.count },
            .bytes("bytes") { $0.figures.bytes }, .time("first_at", .side) { $0.figures.firstAt },
            .time("last_at", .side) { $0.figures.lastAt }, .rate("per_day") { $0.figures.perDay },
        ] as [RowColumn<(category: String, type: String, figures: LogStatistics.Figures)>]
    ) { query in
        let statistics = try await LogStatistics(of: LogReader(client: query.client), progress: query.progress)
        let kinds = statistics.kinds.sorted { $0.key < $1.key }.map { ($0.category, $0.type, $1) }
        try query.show(kinds + (statistics.total.map { [("(all)", "(all)", $0)] } ?? []))
        return .complete(ifEmpty: "The log is empty.")
    }
}

extension OperatorReport.EventRow {
    init(_ recorded: RecordedEvent, showing personalData: PersonalData) {
        let event = recorded.envelope.event
        self.recorded = recorded
        metadata = try? recorded.envelope.metadata.values()
        data = personalData.shown(event, category: recorded.envelope.stream.category)
    }
}

/// The parameters of several reports.
extension ReportParameter {
    static let limits: ClosedRange<Int64> = 1...10_000
    static let reveal = ReportParameter("reveal", .flag, "Show personal data: addresses, places, devices.")
    static let since = ReportParameter("since", .time, "Only events recorded at or after this time: \(timeHelp)")
    static let before = ReportParameter(
        "before", .number(1...(.max)), label: "position",
        "Only events before this position, which is the last one of the previous page.")

    static func limit(_ usual: Int, of things: String) -> ReportParameter {
        ReportParameter("limit", .number(limits), usual: String(usual), "The maximum number of \(things).")
    }

    static func categories(of modules: [Module]) -> Kind { .word(modules.domainEvents.map { $0.category }) }

    /// A search for a misspelt name would find no events, and look like a result.
    static func filter(of modules: [Module]) -> [ReportParameter] {
        [
            ReportParameter(
                "type", .word(modules.domainEvents.flatMap { $0.storedTypes.map(\.name) }),
                "Only domain events of this type, such as EventCreated; repeatable."),
            ReportParameter(
                "category", categories(of: modules), "Only streams of this category, such as event; repeatable."),
        ]
    }
}

extension ReportArguments {
    var limit: Int? { number("limit").map { Int($0) } }

    fileprivate var filter: LogFilter { LogFilter(categories: Set(texts("category")), types: Set(texts("type"))) }

    func personalData(of modules: [Module]) -> PersonalData {
        PersonalData(of: modules.domainEvents, isRevealed: isSet("reveal"))
    }
}

internal import Encoding
internal import Foundation
internal import Postgres

/// The reports on recorded events, which all have the same members.
extension OperatorReport {
    static func onEvents(
        _ name: String, _ summary: String, _ parameters: [ReportParameter],
        form: Form = .table(omitting: ["format", "id", "trace_id"]), of modules: [ModuleRegistration],
        read: @escaping @Sendable (Query, @escaping @Sendable ([RecordedEvent]) throws -> Void) async throws -> ReportEnd
    ) -> OperatorReport {
        OperatorReport(name, summary, parameters + [.reveal], form: form) { query in
            let personalData = query.arguments.personalData(of: modules)
            return try await read(query) { events in try query.show(events.map { row(of: $0, showing: personalData) }) }
        }
    }

    private static func row(of recorded: RecordedEvent, showing personalData: PersonalData) -> JSONObject {
        let (envelope, event) = (recorded.envelope, recorded.envelope.event)
        // Metadata that cannot be read are null: a verification of the log reports them.
        let metadata = try? envelope.metadata.values()
        return [
            "position": .integer(recorded.position), "recorded_at": .time(envelope.recordedAt),
            "stream": .string(envelope.stream.description), "version": JSON(envelope.version), "type": .string(event.type),
            "format": JSON(event.format), "id": .string(envelope.id.uuidString.lowercased()),
            "actor": .integer(metadata?.actor), "request_id": JSON(metadata?.requestID), "trace_id": JSON(metadata?.traceID),
            "data": personalData.shown(event, category: envelope.stream.category),
        ]
    }

    static func tail(of modules: [ModuleRegistration]) -> OperatorReport {
        let parameters: [ReportParameter] = [
            .init("follow", .flag, "Go on with new events as they come."),
            .init("limit", .number(ReportParameter.limits), "The maximum number of events: 20, unless a time is given."),
        ]
        return onEvents(
            "log tail", "Show the last recorded events, and new events as they come.",
            parameters + ReportParameter.kind(of: modules) + [.since], of: modules
        ) { query, show in
            let (reader, arguments) = (LogReader(client: query.client), query.arguments)
            let (type, category, since) = (arguments.text("type"), arguments.text("category"), arguments.time("since"))
            let tail = try await reader.tail()
            var position = tail
            if arguments.isSet("limit") || since == nil {
                let criteria = LogCriteria(type: type, category: category, since: since)
                let search = LogSearch(client: query.client, criteria: criteria)
                try show(try await search.find(before: tail + 1, limit: arguments.limit ?? 20).events.reversed())
            } else if let since {
                position = try await LogTimes(client: query.client, tail: tail).position(before: since)
            }
            let follows = arguments.isSet("follow")
            guard follows || position < tail else { return .complete() }
            let filter = LogFilter(categories: Set([category].compactMap(\.self)), types: Set([type].compactMap(\.self)))
            let notifier = LogNotifier(client: query.client, listens: follows, logger: query.logger)
            return try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await notifier.run() }
                defer { group.cancelAll() }
                for try await page in LogTail(client: query.client, notifier: notifier, after: position, filter: filter) {
                    try show(page.events.filter { event in since.map { event.envelope.recordedAt >= $0 } ?? true })
                    if !follows, page.through >= tail { break }
                }
                return .complete()
            }
        }
    }

    static func recordedEvent(of modules: [ModuleRegistration]) -> OperatorReport {
        onEvents(
            "log show", "Show the recorded event at a position.",
            [.init("position", .number(1...LogReader.positionLimit), "The position, from 1.")], form: .details, of: modules
        ) { query, show in
            let (reader, position) = (LogReader(client: query.client), query.arguments.number("position") ?? 0)
            let tail = try await reader.tail()
            guard position <= tail, let recorded = try await reader.read(position: position) else {
                return .nothing("The log has no position \(position); it ends at \(tail).")
            }
            try show([recorded])
            return .complete()
        }
    }

    static func search(of modules: [ModuleRegistration]) -> OperatorReport {
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
            "log search", "Find recorded events, newest first.", ReportParameter.kind(of: modules) + parameters, of: modules
        ) { query, show in
            let arguments = query.arguments
            let criteria = LogCriteria(
                type: arguments.text("type"), category: arguments.text("category"), actor: arguments.number("actor"),
                requestID: arguments.text("request"), traceID: arguments.text("trace"), since: arguments.time("since"),
                until: arguments.time("until"), text: arguments.text("text"))
            let reach = arguments.number("scan") ?? LogSearch.usualReach
            let found = try await LogSearch(client: query.client, criteria: criteria).find(
                before: arguments.number("before"), limit: arguments.limit ?? 0, reach: reach, progress: query.progress)
            try show(found.events)
            guard let next = found.continuesBefore else {
                return found.events.isEmpty ? .nothing("No event matches.") : .complete()
            }
            return .more(
                parameter: "before", argument: "\(next)",
                because: found.events.count < arguments.limit ?? 0
                    ? "Stopped before position \(next), \(reach) positions back." : nil)
        }
    }

    static func trace(of modules: [ModuleRegistration]) -> OperatorReport {
        onEvents(
            "log trace", "Show the events that one request or one trace caused, in order.",
            [.init("id", .text, "The X-Request-Id of a response, or a W3C trace id."), .before], of: modules
        ) { query, show in
            let (id, position) = (query.arguments.text("id") ?? "", query.arguments.number("before"))
            let limit = Int(ReportParameter.limits.upperBound)
            var found: [Int64: RecordedEvent] = [:]
            // A proxy may send the same id as both.
            for criteria in [LogCriteria(requestID: id), LogCriteria(traceID: id)] {
                let search = LogSearch(client: query.client, criteria: criteria)
                for event in try await search.find(before: position, limit: limit).events { found[event.position] = event }
            }
            let events = found.values.sorted { $0.position < $1.position }.suffix(limit)
            guard let first = events.first else { return .nothing("No event was recorded for \(id).") }
            try show(Array(events))
            return events.count < limit
                ? .complete()
                : .more(parameter: "before", argument: "\(first.position)", because: "These are the last events.")
        }
    }

    /// One statement counts the whole log. Meanwhile its snapshot keeps VACUUM from removing dead rows.
    static let statistics = OperatorReport("log stats", "Count the recorded events by category and type.") { query in
        let kinds = try await query.client.withLongTransaction { connection in
            try await connection.run([
                "SET LOCAL statement_timeout = '10min'", "SET LOCAL enable_seqscan = on",
                "SET LOCAL max_parallel_workers_per_gather = 0",
            ])
            return try await connection.query(
                """
                SELECT coalesce(category, '(all)'), coalesce(type, '(all)'), count(*), sum(bytes)::bigint, min(recorded_at),
                    max(recorded_at)
                FROM (
                    SELECT split_part(stream, '-', 1) AS category, type, recorded_at, octet_length(data::text)
                        + octet_length(metadata::text) + coalesce(octet_length(personal::text), 0) AS bytes
                    -- Not pulled up: PostgreSQL would expect as many groups as streams, and sort the log in files.
                    FROM log.recorded_events OFFSET 0
                ) AS kinds
                -- The empty set is the sum, and has a row for an empty log.
                GROUP BY GROUPING SETS ((category, type), ()) HAVING count(*) > 0
                ORDER BY GROUPING(category), category COLLATE "C", type COLLATE "C"
                """
            ).decode((String, String, Int64, Int64, Timestamp, Timestamp).self)
        }
        try query.show(
            kinds.map { category, type, events, bytes, firstAt, lastAt -> JSONObject in
                let days = Double(lastAt.milliseconds - firstAt.milliseconds) / 86_400_000
                return [
                    "category": .string(category), "type": .string(type), "events": JSON(events), "bytes": JSON(bytes),
                    "first_at": .time(firstAt), "last_at": .time(lastAt),
                    // Less than an hour says nothing about a day.
                    "per_day": .figure(days >= 1 / 24.0 ? Double(events) / days : nil),
                ]
            })
        return .complete(ifEmpty: "The log is empty.")
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

    static func categories(of modules: [ModuleRegistration]) -> Kind { .word(modules.domainEvents.map { $0.category }) }

    /// A search for a misspelt name would find no events, and look like a result.
    static func kind(of modules: [ModuleRegistration]) -> [ReportParameter] {
        [
            ReportParameter(
                "type", .word(modules.domainEvents.flatMap { $0.storedTypes.map(\.name) }),
                "Only domain events of this type, such as EventCreated."),
            ReportParameter("category", categories(of: modules), "Only streams of this category, such as event."),
        ]
    }
}

extension ReportArguments {
    var limit: Int? { number("limit").map { Int($0) } }

    func personalData(of modules: [ModuleRegistration]) -> PersonalData {
        PersonalData(of: modules.domainEvents, isRevealed: isSet("reveal"))
    }
}

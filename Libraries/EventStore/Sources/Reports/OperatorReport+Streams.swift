internal import Encoding
internal import Postgres

/// The reports on streams.
extension OperatorReport {
    private static let streamName = ReportParameter("stream", .text, "The stream: user-1, event-12, attendance-12-1.")

    static func streams(of modules: [ModuleRegistration]) -> OperatorReport {
        OperatorReport(
            "streams list", "List the streams page by page, with the number of their recorded events and their times.",
            [
                .init(
                    "category", ReportParameter.categories(of: modules), "Only streams of this category, such as event."),
                .init(
                    "after", .text, label: "stream",
                    "Only streams after this one, which is the last stream of the previous page."),
                .limit(50, of: "streams"),
            ]
        ) { query in
            let (after, limit) = (query.arguments.text("after"), query.arguments.limit ?? 0)
            let streams = try await LogReader(client: query.client).streams(
                ofCategory: query.arguments.text("category"), after: after.map { StreamName($0) }, limit: Int64(limit))
            try query.show(
                streams.map {
                    [
                        "category": .string($0.stream.category), "stream": .string($0.stream.description),
                        "events": JSON($0.version), "first_at": .time($0.firstAt), "last_at": .time($0.lastAt),
                    ]
                })
            guard let last = streams.last, streams.count == limit else {
                return .complete(ifEmpty: "There are no streams\(after.map { " after \($0)" } ?? "").")
            }
            return .more(parameter: "after", argument: "\(last.stream)")
        }
    }

    static func stream(of modules: [ModuleRegistration]) -> OperatorReport {
        onEvents(
            "streams show", "Show every recorded event of a stream.", [streamName], form: .details, of: modules
        ) { query, show in
            let recorded = try await query.stream()
            try show(recorded)
            return recorded.isEmpty ? query.noStream : .complete()
        }
    }

    static func streamState(of modules: [ModuleRegistration]) -> OperatorReport {
        OperatorReport(
            "streams state", "Show the state of a stream, now or at an earlier moment.",
            [
                streamName, .init("version", .number(1...Int64(Int32.max)), "The state at this version."),
                .init("at", .time, "The state at this time: \(ReportParameter.timeHelp)"), .reveal,
            ], form: .details
        ) { query in
            let recorded = try await query.stream()
            guard let first = recorded.first else { return query.noStream }
            let selected: [RecordedEvent]
            if let version = query.arguments.number("version") {
                guard let older = recorded.upTo(version: version) else { return query.noVersion(in: recorded) }
                selected = older
            } else {
                selected = query.arguments.time("at").map { recorded.upTo(time: $0) } ?? recorded
            }
            guard let last = selected.last else {
                return .nothing(
                    "\(query.streamName) did not exist yet; its first event was recorded at \(first.envelope.recordedAt).")
            }
            let state = try selected.state(decodedBy: modules.domainEvents)
            let personalData = query.arguments.personalData(of: modules)
            try query.show([
                [
                    "stream": .string(query.streamName.description), "version": JSON(last.envelope.version),
                    "position": JSON(last.position), "recorded_at": .time(last.envelope.recordedAt),
                    "data": .object(personalData.shown(state, category: query.streamName.category)),
                ]
            ])
            return .complete()
        }
    }

    static func streamChanges(of modules: [ModuleRegistration]) -> OperatorReport {
        OperatorReport(
            "streams diff", "Show the changes between two versions of a stream.",
            [
                streamName, .init("from", .number(1...Int64(Int32.max)), "The version to start from."),
                .init("to", .number(1...Int64(Int32.max)), "The version to compare with."), .reveal,
            ]
        ) { query in
            let recorded = try await query.stream()
            guard !recorded.isEmpty else { return query.noStream }
            let (from, to) = (query.arguments.number("from") ?? 0, query.arguments.number("to") ?? 0)
            guard let older = recorded.upTo(version: from), let newer = recorded.upTo(version: to) else {
                return query.noVersion(in: recorded)
            }
            let old = try older.state(decodedBy: modules.domainEvents)
            let new = try newer.state(decodedBy: modules.domainEvents)
            let personalData = query.arguments.personalData(of: modules)
            func shown(_ name: String, _ value: JSON?) -> JSON {
                guard let value else { return .null }
                return personalData.shown([name: value], category: query.streamName.category)[name] ?? .null
            }
            try query.show(
                old.changes(to: new).map { name, old, new in
                    ["member": .string(name), "old": shown(name, old), "new": shown(name, new)]
                })
            return .complete(ifEmpty: "\(query.streamName) has the same state at the versions \(from) and \(to).")
        }
    }
}

extension OperatorReport.Query {
    fileprivate var streamName: StreamName { StreamName(arguments.text("stream") ?? "") }
    fileprivate var noStream: ReportEnd { .nothing("The log has no stream \(arguments.text("stream") ?? "").") }

    fileprivate func noVersion(in recorded: [RecordedEvent]) -> ReportEnd {
        .nothing("\(streamName) has versions 1 to \(recorded.count).")
    }

    fileprivate func stream() async throws -> [RecordedEvent] { try await LogReader(client: client).read(stream: streamName) }
}

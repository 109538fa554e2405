internal import Encoding
internal import Postgres

/// The reports on streams.
extension OperatorReport {
    private static let streamName = ReportParameter("stream", .text, "The stream: user-1, event-12, attendance-12-1.")

    static func streams(of modules: [Module]) -> OperatorReport {
        OperatorReport(
            "streams list", "List the streams page by page, with the number of their recorded events and their times.",
            [
                .init(
                    "category", ReportParameter.categories(of: modules), "Only streams of this category, such as event."),
                .init(
                    "after", .text, label: "stream",
                    "Only streams after this one, which is the last stream of the previous page."),
                .limit(50, of: "streams"),
            ],
            [
                .text("category") { $0.stream.category }, .text("stream") { $0.stream.description },
                .count("events") { Int64($0.version) }, .time("first_at") { $0.firstAt },
                .time("last_at", .side) { $0.lastAt },
            ] as [RowColumn<StreamSummary>]
        ) { query in
            let (after, limit) = (query.arguments.text("after"), query.arguments.limit ?? 0)
            let streams = try await LogReader(client: query.client).streams(
                ofCategory: query.arguments.text("category"), after: after.map { StreamName($0) }, limit: Int64(limit))
            try query.show(streams)
            guard let last = streams.last, streams.count == limit else {
                return .complete(ifEmpty: "There are no streams\(after.map { " after \($0)" } ?? "").")
            }
            return .more(parameter: "after", argument: "\(last.stream)")
        }
    }

    static func stream(of modules: [Module]) -> OperatorReport {
        onEvents("streams show", "Show every recorded event of a stream.", [streamName], form: .details, of: modules) { query in
            let recorded = try await query.stream()
            try query.show(recorded)
            return recorded.isEmpty ? query.noStream : .complete()
        }
    }

    static func streamState(of modules: [Module]) -> OperatorReport {
        OperatorReport(
            "streams state", "Show the state of a stream, now or at an earlier moment.",
            [
                streamName, .init("version", .number(1...Int64(Int32.max)), "The state at this version."),
                .init("at", .time, "The state at this time: \(ReportParameter.timeHelp)"), .reveal,
            ],
            [
                .text("stream") { $0.stream.description }, .number("version") { Int64($0.state.version) },
                .number("position") { $0.state.position }, .time("recorded_at") { $0.state.recordedAt },
                .json("data") { $0.data },
            ] as [RowColumn<(stream: StreamName, state: StreamState, data: JSON)>], form: .details
        ) { query in
            let recorded = try await query.stream()
            guard let first = recorded.first else { return query.noStream }
            let selected: [RecordedEvent]
            if let version = query.arguments.number("version") {
                guard let older = recorded.upTo(version: Int32(version)) else { return query.noVersion(in: recorded) }
                selected = older
            } else {
                selected = query.arguments.time("at").map { recorded.upTo(time: $0) } ?? recorded
            }
            guard let state = try query.state(after: selected, of: modules) else {
                return .nothing(
                    "\(query.streamName) did not exist yet; its first event was recorded at \(first.envelope.recordedAt).")
            }
            let data = query.arguments.personalData(of: modules).shown(
                .object(state.members), category: query.streamName.category)
            try query.show([(query.streamName, state, data)])
            return .complete()
        }
    }

    static func streamChanges(of modules: [Module]) -> OperatorReport {
        OperatorReport(
            "streams diff", "Show the changes between two versions of a stream.",
            [
                streamName, .init("from", .number(1...Int64(Int32.max)), "The version to start from."),
                .init("to", .number(1...Int64(Int32.max)), "The version to compare with."), .reveal,
            ],
            [.text("member") { $0.name }, .json("old") { $0.old }, .json("new") { $0.new }]
                as [RowColumn<(name: String, old: JSON?, new: JSON?)>]
        ) { query in
            let recorded = try await query.stream()
            guard !recorded.isEmpty else { return query.noStream }
            let (from, to) = (query.arguments.number("from") ?? 0, query.arguments.number("to") ?? 0)
            guard let older = recorded.upTo(version: Int32(from)), let newer = recorded.upTo(version: Int32(to)),
                let old = try query.state(after: older, of: modules), let new = try query.state(after: newer, of: modules)
            else { return query.noVersion(in: recorded) }
            let personalData = query.arguments.personalData(of: modules)
            func shown(_ name: String, _ value: JSON?) -> JSON? {
                value.flatMap { value in
                    let member = JSON.object(JSONObject(members: [JSONObject.Member(name: name, value: value)]))
                    return personalData.shown(member, category: query.streamName.category)[name]
                }
            }
            let changes = StreamState.changes(from: old, to: new)
            try query.show(changes.map { ($0.name, shown($0.name, $0.old), shown($0.name, $0.new)) })
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

    /// - Throws: ``UnreadableStream``
    fileprivate func state(after recorded: [RecordedEvent], of modules: [Module]) throws -> StreamState? {
        do { return try StreamState(after: recorded, decodedBy: modules.domainEvents) } catch let error as FormatError {
            throw UnreadableStream(stream: streamName, error: error)
        }
    }
}

private struct UnreadableStream: Error, CustomStringConvertible {
    var stream: StreamName
    var error: FormatError
    var description: String { "\(stream) cannot be read by this program: \(error)" }
}

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

/// The stream that a report is about.
struct StreamArgument: ParsableArguments {
    @Argument(help: "The stream: user-1, event-12, attendance-12-1.", transform: Parameter.text)
    var stream: String

    var name: StreamName { StreamName(stream) }
    var noStream: ReportEnd { .nothing("The log has no stream \(stream).") }

    func noVersion(in recorded: [RecordedEvent]) -> ReportEnd { .nothing("\(stream) has versions 1 to \(recorded.count).") }

    func read(_ query: ReportQuery) async throws -> [RecordedEvent] {
        try await LogReader(client: query.client).read(stream: name)
    }
}

/// `humon streams show`
struct StreamsShowCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show every recorded event of a stream.",
        discussion: """
            Exits with 2 if the log has no such stream.

            EXAMPLE: humon streams show event-12 --reveal
            """)
    static let isTable = false

    @OptionGroup var stream: StreamArgument
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let recorded = try await stream.read(query)
        try query.show(recorded.map(personal.redaction.row))
        return recorded.isEmpty ? stream.noStream : .complete()
    }
}

/// `humon streams state`
struct StreamsStateCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "state", abstract: "Show the state of a stream, now or at an earlier moment.",
        discussion: """
            The state has the last value of each member of the data. It tells whether an event is cancelled or hidden, a task \
            completed or deleted, and a user attending. Exits with 2 if the stream did not exist.

            EXAMPLE: humon streams state event-12 --at 2h
            """)
    static let isTable = false

    @OptionGroup var stream: StreamArgument
    @Option(help: "The state at this version.", transform: Parameter.version)
    var version: Int64?
    @Option(help: "The state at this time: \(Parameter.timeHelp)", transform: Parameter.time)
    var at: Timestamp?
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard version == nil || at == nil else { throw ValidationError("Give --version or --at, not both.") }
    }

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let recorded = try await stream.read(query)
        guard let first = recorded.first else { return stream.noStream }
        let selected: [RecordedEvent]
        if let version {
            guard let older = recorded.upTo(version: version) else { return stream.noVersion(in: recorded) }
            selected = older
        } else {
            selected = at.map { recorded.upTo(time: $0) } ?? recorded
        }
        let name = stream.name
        guard let last = selected.last else {
            return .nothing("\(name) did not exist yet; its first event was recorded at \(first.envelope.recordedAt).")
        }
        let state = try selected.state(decodedBy: Backend.domainEvents)
        try query.show([
            [
                "stream": .string(name.description), "version": JSON(last.envelope.version), "position": JSON(last.position),
                "recorded_at": .time(last.envelope.recordedAt),
                "data": .object(personal.redaction.shown(state, category: name.category)),
            ]
        ])
        return .complete()
    }
}

/// `humon streams diff`
struct StreamsDiffCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the changes between two versions of a stream.",
        discussion: """
            Prints a row for each member of the state whose value differs. Exits with 2 if the stream has no such version.

            EXAMPLE: humon streams diff event-12 3 5
            """)

    @OptionGroup var stream: StreamArgument
    @Argument(help: "The version to start from.", transform: Parameter.version)
    var from: Int64
    @Argument(help: "The version to compare with.", transform: Parameter.version)
    var to: Int64
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let recorded = try await stream.read(query)
        guard !recorded.isEmpty else { return stream.noStream }
        guard let older = recorded.upTo(version: from), let newer = recorded.upTo(version: to) else {
            return stream.noVersion(in: recorded)
        }
        let old = try older.state(decodedBy: Backend.domainEvents)
        let new = try newer.state(decodedBy: Backend.domainEvents)
        let (redaction, name) = (personal.redaction, stream.name)
        func value(_ member: String, _ value: JSON?) -> JSON {
            guard let value else { return .null }
            return redaction.shown([member: value], category: name.category)[member] ?? .null
        }
        try query.show(
            old.changes(to: new).map { member, old, new in
                ["member": .string(member), "old": value(member, old), "new": value(member, new)]
            })
        return .complete(ifEmpty: "\(name) has the same state at the versions \(from) and \(to).")
    }
}

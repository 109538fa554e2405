internal import ArgumentParser
internal import Encoding
internal import EventStore

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

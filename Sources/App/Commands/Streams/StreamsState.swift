internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon streams state`
struct StreamsState: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "state",
        abstract: "Show the state of a stream, now or at an earlier moment.",
        discussion: """
            The state has the last value that a domain event gave to each member of the data, and tells whether an event is \
            cancelled or hidden, a task completed or deleted, and a user attending. Exits with 2 if the stream did not exist.

            EXAMPLE: humon streams state event-12 --at 2h
            """
    )

    @OptionGroup var stream: StreamArgument

    @Option(help: "The state at this version.")
    var version: Int32?

    @Option(help: "The state at this time: \(TimeArgument.help)", transform: TimeArgument.parse)
    var at: Timestamp?

    @OptionGroup var personal: RevealOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard version == nil || at == nil else { throw ValidationError("Give --version or --at, not both.") }
    }

    func run() async throws {
        try await database.reading(options.output) { client, output in
            let recorded = try await stream.recorded(by: LogReader(client: client))
            let state = try state(of: recorded)
            let data = personal.personalData.shown(
                .object(state.members), category: StreamName(stream.stream).category)
            try output.write([
                "stream": .text(stream.stream), "version": .number(state.version), "position": .number(state.position),
                "recorded_at": .time(state.recordedAt), "data": .json(data),
            ])
        }
    }

    private func state(of recorded: [RecordedEvent]) throws -> StreamState {
        if let version { return try stream.state(at: version, of: recorded) }
        guard let state = try stream.state(after: at.map { recorded.upTo(time: $0) } ?? recorded) else {
            throw NegativeResult(
                "\(stream.stream) did not exist yet; its first event was recorded at \(recorded[0].envelope.recordedAt).")
        }
        return state
    }
}

internal import ArgumentParser
internal import EventStore

/// The name of a stream on the command line.
struct StreamArgument: ParsableArguments {
    @Argument(help: "The stream: user-1, event-12, attendance-12-1.")
    var stream: String

    /// - Throws: ``NegativeResult`` if the log has no such stream; `PostgresError`
    func recorded(by reader: LogReader) async throws -> [RecordedEvent] {
        let recorded = try await reader.read(stream: StreamName(stream))
        guard !recorded.isEmpty else { throw NegativeResult("The log has no stream \(stream).") }
        return recorded
    }

    /// - Throws: ``NegativeResult`` if the stream has no such version; an error that names the stream if this version of humon cannot
    ///   read it
    func state(at version: Int32, of recorded: [RecordedEvent]) throws -> StreamState {
        guard let recorded = recorded.upTo(version: version), let state = try state(after: recorded) else {
            throw NegativeResult("\(stream) has versions 1 to \(recorded.count).")
        }
        return state
    }

    /// - Throws: an error that names the stream if this version of humon cannot read it
    func state(after recorded: [RecordedEvent]) throws -> StreamState? {
        do { return try StreamState(after: recorded, decodedBy: Backend.domainEvents) } catch let error as FormatError {
            throw Unreadable(stream: stream, error: error)
        }
    }

    private struct Unreadable: Error, CustomStringConvertible {
        var stream: String
        var error: FormatError
        var description: String { "\(stream) cannot be read by this humon: \(error)" }
    }
}

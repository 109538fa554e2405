internal import ArgumentParser
internal import Encoding
internal import EventStore

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

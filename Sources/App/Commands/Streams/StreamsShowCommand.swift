internal import ArgumentParser
internal import Encoding
internal import EventStore

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

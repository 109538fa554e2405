internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon log show`
struct LogShowCommand: ReportCommand {
    static let configuration = CommandConfiguration(
        commandName: "show", abstract: "Show the recorded event at a position.",
        discussion: """
            Exits with 2 if the log has no such position.

            EXAMPLE: humon log show 1042
            """)
    static let isTable = false

    @Argument(help: "The position, from 1.", transform: Parameter.number(1...LogReader.positionLimit))
    var position: Int64
    @OptionGroup var personal: RevealOption
    @OptionGroup var options: CommandOptions

    func read(_ query: ReportQuery) async throws -> ReportEnd {
        let reader = LogReader(client: query.client)
        let tail = try await reader.tail()
        guard position <= tail, let recorded = try await reader.read(position: position) else {
            return .nothing("The log has no position \(position); it ends at \(tail).")
        }
        try query.show([personal.redaction.row(of: recorded)])
        return .complete()
    }
}

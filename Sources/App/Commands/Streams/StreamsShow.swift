internal import ArgumentParser
internal import EventStore

/// `humon streams show`
struct StreamsShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show every recorded event of a stream.",
        discussion: """
            Exits with 2 if the log has no such stream.

            EXAMPLE: humon streams show event-12 --reveal
            """
    )

    @OptionGroup var stream: StreamArgument
    @OptionGroup var personal: RevealOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        try await database.reading(options.output) { client, output in
            let recorded = try await stream.recorded(by: LogReader(client: client))
            try output.write(recorded.map { $0.record(showing: personal.personalData) })
        }
    }
}

internal import ArgumentParser
internal import EventStore

/// `humon log show`
struct LogShow: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show the recorded event at a position.",
        discussion: """
            Exits with 2 if the log has no such position.

            EXAMPLE: humon log show 1042
            """
    )

    @Argument(help: "The position, from 1.")
    var position: Int64

    @OptionGroup var personal: RevealOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard position > 0 else { throw ValidationError("Positions start at 1.") }
    }

    func run() async throws {
        try await database.reading(options.output) { client, output in
            let reader = LogReader(client: client)
            let tail = try await reader.tail()
            guard position <= tail, let recorded = try await reader.read(position: position) else {
                throw NegativeResult("The log has no position \(position); it ends at \(tail).")
            }
            try output.write(recorded.record(showing: personal.personalData))
        }
    }
}

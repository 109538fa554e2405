internal import ArgumentParser
internal import EventStore

extension Log {
    /// `humon log show`
    struct LogShowCommand: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show the recorded event at a position.",
            discussion: """
                Exits with 2 when there is none.

                EXAMPLE: humon log show 1042
                """
        )

        @Argument(help: "The position, from 1.")
        var position: Int64

        @OptionGroup var personal: RevealOptions
        @OptionGroup var options: OutputOptions

        func validate() throws {
            guard position > 0 else { throw ValidationError("Positions start at 1.") }
        }

        func run() async throws {
            try await options.reading { client, output in
                let reader = LogReader(client: client)
                let tail = try await reader.tail()
                guard position <= tail, let recorded = try await reader.read(position: position) else {
                    throw NegativeResult("There is nothing at position \(position); the log ends at \(tail).")
                }
                try output.write(recorded.record(showing: personal.personalData))
            }
        }
    }
}

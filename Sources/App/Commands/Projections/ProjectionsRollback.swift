internal import ArgumentParser
internal import EventStore

extension Projections {
    /// `humon projections rollback`
    struct Rollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Return to the tables that the last rebuild replaced.",
            discussion: """
                The command first applies the newest events to these tables. The tables that they replace are kept, so a second \
                rollback undoes the first one. It asks first; without a terminal it requires --yes, else it exits with 2.

                EXAMPLE: humon projections rollback events --yes
                """
        )

        @OptionGroup var choice: ReadModelChoice
        @OptionGroup var consent: ConsentOptions
        @OptionGroup var database: DatabaseOptions
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let table = try await choice.tending(database) { models in
                let kept = try await models.kept()
                if consent.dryRun {
                    return Table(
                        "name", "position", "state",
                        rows: kept.map { [.text($0.name), .number($0.position), .state(.doubtful, "would be served")] })
                }
                try await consent.require(
                    "Servers then answer from the tables that the last rebuild of \(kept.map(\.name).joined(separator: ", ")) replaced."
                )
                let cutover = try await models.rollback()
                return Table(
                    "name", "position", "held_seconds",
                    rows: cutover.names.map { [.text($0), .number(cutover.position), .seconds(cutover.heldSeconds)] })
            }
            try options.output.write(table)
        }
    }
}

internal import ArgumentParser
internal import EventStore

extension Projections {
    /// `humon projections rollback`
    struct Rollback: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Go back to the tables that the last rebuild replaced.",
            discussion: """
                They are brought to the end of the log first. The tables they replace stay in their place, so a second rollback takes \
                the first one back.

                EXAMPLE: humon projections rollback events
                """
        )

        @OptionGroup var choice: ReadModelChoice
        @OptionGroup var options: OutputOptions

        func run() async throws {
            let cutover = try await choice.tending { try await $0.rollback() }
            var table = Table("name", "position", "held_seconds")
            for name in cutover.names {
                table.append(.text(name), .number(cutover.position), .seconds(cutover.heldSeconds))
            }
            try options.output.write(table)
        }
    }
}

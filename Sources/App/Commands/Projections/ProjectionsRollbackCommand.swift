internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections rollback`
struct ProjectionsRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Return to the tables that the last rebuild replaced.",
        discussion: """
            The command first applies the newest events to these tables. The tables that they replace are kept, so a second rollback \
            returns to them. `humon projections list` shows when each was built.

            EXAMPLE: humon projections rollback events --yes
            """
    )

    @OptionGroup var choice: ReadModelChoice
    @OptionGroup var consent: ConsentOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let output = options.output
        try await choice.tending(database) { models in
            try await consent.require("Servers then answer from the tables that the last rebuild or rollback replaced.")
            let cutover = try await models.rollback()
            try output.write(
                cutover.names.map {
                    ["name": .string($0), "position": JSON(cutover.position), "held_seconds": .figure(cutover.heldSeconds)]
                })
        }
    }
}

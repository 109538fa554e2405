internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections rollback`
struct ProjectionsRollbackCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Return to the tables that the last rebuild replaced.",
        discussion: """
            The command first applies the newest events to these tables. The tables that they replace are kept, and --undo returns to \
            them. A read model whose tables are live already stays as it is, so the command can be repeated.

            EXAMPLE: humon projections rollback events --yes
            EXAMPLE: humon projections rollback events --undo --yes
            """
    )

    @OptionGroup var choice: ReadModelChoice
    @Flag(help: "Take a rollback back: return to the tables of the last rebuild.")
    var undo = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    func run() async throws {
        let target: ReadModels.RollbackTarget = undo ? .newer : .older
        let output = options.output
        try await choice.tending(database) { models in
            let kept = try await models.kept(for: target)
            if consent.dryRun {
                return try output.write(
                    kept.map {
                        [
                            "name": .string($0.name), "position": JSON($0.position),
                            "state": $0.isTarget ? "would be served" : "is replaced already",
                        ]
                    })
            }
            try await consent.require(
                "Servers then answer from the tables \(undo ? "of the last rebuild" : "before the last rebuild") of \(kept.map(\.name).joined(separator: ", "))."
            )
            let cutover = try await models.rollback(to: target)
            try output.write(
                cutover.names.map {
                    ["name": .string($0), "position": JSON(cutover.position), "held_seconds": .figure(cutover.heldSeconds)]
                })
        }
    }
}

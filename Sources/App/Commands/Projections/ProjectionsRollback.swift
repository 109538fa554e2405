internal import ArgumentParser
internal import EventStore

/// `humon projections rollback`
struct ProjectionsRollback: AsyncParsableCommand {
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
        let table = try await choice.tending(database) { models in
            let kept = try await models.kept(for: target)
            if consent.dryRun {
                return Table(
                    "name", "position", "state",
                    rows: kept.map { name, position, isTarget in
                        let state: Field =
                            isTarget ? .state(.doubtful, "would be served") : .state(.good, "is replaced already")
                        return [.text(name), .number(position), state]
                    })
            }
            try await consent.require(
                "Servers then answer from the tables \(undo ? "of the last rebuild" : "before the last rebuild") of \(kept.map(\.name).joined(separator: ", "))."
            )
            let cutover = try await models.rollback(to: target)
            return Table(
                "name", "position", "held_seconds",
                rows: cutover.names.map { [.text($0), .number(cutover.position), .seconds(cutover.heldSeconds)] })
        }
        try options.output.write(table)
    }
}

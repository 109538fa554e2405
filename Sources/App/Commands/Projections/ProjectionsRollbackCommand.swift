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
            returns to them. The question and the result say when the tables were built.

            EXAMPLE: humon projections rollback events --yes
            """
    )

    @OptionGroup var choice: ReadModelChoice
    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let output = options.output
        try await choice.tending(options.database) { models in
            let kept = try await models.list().filter { $0.state == .kept }
            let builds = kept.map { "\($0.name) of \($0.builtAt?.description ?? "an unknown time")" }.joined(separator: ", ")
            try await consent.require(
                "Servers then answer from the tables that the last rebuild or rollback replaced\(builds.isEmpty ? "" : ": \(builds)")."
            )
            let cutover = try await models.rollback()
            try output.write(
                cutover.names.map { name in
                    [
                        "name": .string(name), "built_at": .time(kept.first { $0.name == name }?.builtAt),
                        "position": JSON(cutover.position), "held_seconds": .figure(cutover.heldSeconds),
                    ]
                })
        }
    }
}

internal import ArgumentParser
internal import Encoding
internal import EventStore

/// `humon projections rebuild`
struct ProjectionsRebuildCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Rebuild read models from the log while servers continue.",
        discussion: """
            The command fills new tables beside the old ones and replaces the old ones at one position of the log. The way back \
            is a rebuild by the older program. If a rebuild was interrupted, the next one continues it; `humon projections list` \
            shows how far it is. Servers on the same machine have priority.

            EXAMPLE: humon projections rebuild --all
            """
    )

    @OptionGroup var choice: ReadModelChoice

    @Flag(help: "End a running or interrupted rebuild and drop its new tables; exit with 2 if no rebuild exists.")
    var abort = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let output = options.output
        if abort { return try await abortRebuild(output) }
        let clock = ContinuousClock()
        let start = clock.now
        let progress = ProgressLines()
        let cutover = try await choice.rebuilding(options.database) { models in
            try await models.rebuild { progress.show($0, output) }
        }
        let seconds = (clock.now - start) / .seconds(1)
        try output.write(
            cutover.names.map {
                [
                    "name": .string($0), "position": JSON(cutover.position), "seconds": .figure(seconds),
                    "events_a_second": .figure(Double(cutover.events) / seconds),
                    "held_seconds": .figure(cutover.heldSeconds),
                ]
            })
        try output.say("Appends waited \(Figure.duration(seconds: cutover.heldSeconds)) for the cutover.")
    }

    private func abortRebuild(_ output: Output) async throws {
        let dropped = try await choice.tending(options.database) { models in
            guard try await !models.rebuilds().isEmpty else { return [String]() }
            try await consent.require("This ends the rebuild and drops what it has built.")
            return try await models.abort()
        }
        guard !dropped.isEmpty else { throw NegativeResult("No rebuild is running or interrupted.") }
        try output.write(ReadModelChoice.rows(ofDropped: dropped))
    }
}

internal import ArgumentParser
internal import EventStore
internal import Synchronization

extension Projections {
    /// `humon projections rebuild`
    struct Rebuild: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Build read models anew from the log, while servers go on.",
            discussion: """
                The new tables are filled beside the old ones and take over at one position of the log. The old ones stay in \
                schemas named …_previous: `humon projections rollback` goes back to them, `humon projections prune` drops them. \
                Interrupted, a rebuild goes on where it was when it is started again.

                EXAMPLE: humon projections rebuild --all
                EXAMPLE: humon projections rebuild events --status
                """
        )

        @OptionGroup var choice: ReadModelChoice
        @OptionGroup var options: OutputOptions

        @Flag(help: "Say how far a rebuild is that was started elsewhere; exit with 2 when there is none.")
        var status = false

        @Flag(help: "End a rebuild that was started elsewhere, and drop what it built; exit with 2 when there is none.")
        var abort = false

        func validate() throws {
            if status, abort { throw ValidationError("--status and --abort exclude each other.") }
        }

        func run() async throws {
            let output = options.output
            if status { return try await showStatus(output) }
            if abort { return try await abortOthers(output) }
            let clock = ContinuousClock()
            let start = clock.now
            let progress = ShadowProgressBar(output)
            let cutover = try await choice.tending(migrates: true) { models in try await models.rebuild { progress.show($0) } }
            let seconds = (clock.now - start) / .seconds(1)
            var table = Table("name", "position", "seconds", "events_a_second", "held_seconds")
            for name in cutover.names {
                table.append(
                    .text(name), .number(cutover.position), .seconds(seconds), .rate(Double(cutover.events) / seconds),
                    .seconds(cutover.heldSeconds))
            }
            try output.write(table)
            try output.say(
                """
                Appends waited \(Field.duration(seconds: cutover.heldSeconds)) for the cutover. The old tables stay until \
                humon projections prune.
                """
            )
        }

        private func showStatus(_ output: Output) async throws {
            let shadows = try await options.reading { client, _ in
                return try await Backend.readModels(client).named(choice.names).shadows()
            }
            guard !shadows.isEmpty else { throw NegativeResult("No rebuild is under way or was broken off.") }
            var table = Table("schema", "state", "position", "tail", "began_at", "events_a_second", "seconds_left")
            for shadow in shadows {
                table.append(
                    .text(shadow.schema),
                    shadow.isUnderWay ? .state(.good, "under way") : .state(.doubtful, "interrupted"),
                    .number(shadow.position), .number(shadow.tail), .time(shadow.beganAt),
                    shadow.isUnderWay ? .rate(shadow.rate) : .none, shadow.secondsLeft.map(Field.seconds) ?? .none
                )
            }
            try output.write(table)
        }

        private func abortOthers(_ output: Output) async throws {
            let gone = try await choice.tending { try await $0.abort() }
            guard !gone.isEmpty else { throw NegativeResult("No rebuild is under way or was broken off.") }
            try output.write(Table("schema", "state", rows: gone.map { [.text($0), .state(.good, "dropped")] }))
        }
    }
}

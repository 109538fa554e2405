internal import ArgumentParser
internal import EventStore
internal import Synchronization

/// `humon projections rebuild`
struct ProjectionsRebuild: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rebuild",
        abstract: "Rebuild read models from the log while servers continue.",
        discussion: """
            The command fills new tables beside the old ones and replaces the old ones at one position of the log. It keeps the \
            old tables in schemas named …_previous: `humon projections rollback` returns to them, `humon projections prune` \
            drops them. If a rebuild was interrupted, the next one continues it. Servers on the same machine have priority.

            EXAMPLE: humon projections rebuild --all
            EXAMPLE: humon projections rebuild events --status
            """
    )

    @OptionGroup var choice: ReadModelChoice

    @Flag(help: "Print the progress of a running or interrupted rebuild; exit with 2 if no rebuild exists.")
    var status = false

    @Flag(help: "End a running or interrupted rebuild and drop its new tables; exit with 2 if no rebuild exists.")
    var abort = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        if status, abort { throw ValidationError("--status and --abort exclude each other.") }
    }

    func run() async throws {
        let output = options.output
        if status { return try await showStatus(output) }
        if abort { return try await abortRebuild(output) }
        if consent.dryRun { return try await showPlan(output) }
        let clock = ContinuousClock()
        let start = clock.now
        let progress = ShadowProgressBar(output)
        let cutover = try await choice.rebuilding(database) { models in
            try await models.rebuild { progress.show($0) }
        }
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
        let shadows = try await database.reading(output) { client, _ in
            try await Backend.readModels(client).named(choice.names).shadows()
        }
        guard !shadows.isEmpty else { throw Self.noRebuild }
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

    private func abortRebuild(_ output: Output) async throws {
        let rows: [[Field]] = try await choice.tending(database) { models in
            let shadows = try await models.shadows().map(\.schema)
            guard !shadows.isEmpty else { return [] }
            if consent.dryRun { return shadows.map { [.text($0), .state(.doubtful, "would be dropped")] } }
            try await consent.require("This ends the rebuild and drops \(shadows.joined(separator: ", ")).")
            return try await models.abort().map { [.text($0), .state(.good, "dropped")] }
        }
        guard !rows.isEmpty else { throw Self.noRebuild }
        try output.write(Table("schema", "state", rows: rows))
    }

    private func showPlan(_ output: Output) async throws {
        let tail = try await database.reading(output) { client, _ in try await LogReader(client: client).tail() }
        let names = choice.all ? Backend.projections.map { type(of: $0).name } : choice.names
        try output.write(
            Table(
                "name", "position", "state",
                rows: names.map { [.text($0), .number(tail), .state(.doubtful, "would be rebuilt")] }))
    }

    private static let noRebuild = NegativeResult("No rebuild is running or interrupted.")
}

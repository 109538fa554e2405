internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// `humon log import`
struct LogImportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import an exported log into an empty database, as one transaction.",
        discussion: """
            Positions, ids, times and bytes stay the same. The command refuses an archive with an error and names its line. It runs \
            with the rights of the URL's user, because it also sets the sequences, and applies missing migrations first. The first \
            server erases the persons of its HUMON_ERASURES whom the archive still has, before it answers. --dry-run checks the \
            whole archive in the database, then rolls the transaction back.

            EXAMPLE: humon log import humon.log.zst --yes
            """
    )

    @Argument(help: "The file from humon log export; - for standard input.")
    var file: String

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let input = try InputFile.open(file)
        let isTrial = trial.dryRun
        if !isTrial {
            let target = try options.database.settings().databaseDescription
            try await consent.require("This imports \(file) into \(target), and cannot be undone.")
        }
        options.output.step("Reading the archive")
        let clock = ContinuousClock()
        let start = clock.now
        let use = isTrial ? Database.Use.existing : .creating
        let (summary, readModels) = try await options.database.with(use) { database, logger in
            try await database.migrate(isTrial: isTrial, logger: logger)
            let summary: LogArchive.Summary = try await database.usingAsOwner(logger: logger) { client in
                let frame = ZstandardReader(input)
                return try await withTaskCancellationHandler {
                    let (reading, checking) = (ProgressLines("lines"), ProgressLines("recorded events"))
                    return try await LogImport(client: client).read(
                        from: { try frame.read() }, decodedBy: Backend.domainEvents, sequences: Backend.sequences,
                        isTrial: isTrial
                    ) { done, total in
                        (total == nil ? reading : checking).show(done, of: total)
                    }
                } onCancel: {
                    frame.cancel()
                }
            }
            let behind = try await database.usingAsOwner(logger: logger) { client in
                try await Backend.readModels(client).list().filter { $0.state == .behind }.map(\.schema)
            }
            return (summary, behind)
        }
        let seconds = (clock.now - start) / .seconds(1)
        try options.output.write([
            "recorded": JSON(summary.recordedEvents), "commands": JSON(summary.commands), "seconds": .figure(seconds),
            "events_a_second": .figure(Double(summary.recordedEvents) / seconds),
        ])
        if isTrial { options.output.note("The archive is sound. Nothing was imported.") }
        guard !readModels.isEmpty, !isTrial else { return }
        options.output.note(
            "Read models are behind the log now (\(readModels.joined(separator: ", "))): humon serve updates them, humon projections rebuild --all is faster."
        )
    }
}

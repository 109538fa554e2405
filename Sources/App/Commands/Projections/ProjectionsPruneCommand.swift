internal import ArgumentParser
internal import EventStore

/// `humon projections prune`
struct ProjectionsPruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Drop the copies of read models that no server uses.",
        discussion: """
            They belong to other versions of humon, or to interrupted rebuilds, or a rebuild replaced them. A copy from which a server \
            answers stays, and so does one that a command fills. A program of another version builds its read models again when it \
            starts.

            EXAMPLE: humon projections prune --all --dry-run
            EXAMPLE: humon projections prune --all --yes
            """
    )

    @OptionGroup var choice: ReadModelChoice

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let schemas = try await choice.tending(options.database) { models in
            let unwanted = try await models.prunable()
            if trial.dryRun { return unwanted }
            if !unwanted.isEmpty {
                try await consent.require(
                    "This drops \(unwanted.joined(separator: ", ")). A program that needs one of them builds it again.")
            }
            return try await models.prune()
        }
        try options.output.write(
            ReadModelChoice.rows(ofDropped: schemas, isTrial: trial.dryRun), whenEmpty: "There was nothing to drop.")
    }
}

internal import ArgumentParser
internal import EventStore

/// `humon projections prune`
struct ProjectionsPruneCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Drop the tables that rebuilds replaced.",
        discussion: """
            Afterwards `humon projections rollback` is impossible. With --other-versions it also drops the read models of other \
            versions of humon, if no server answers from them.

            EXAMPLE: humon projections prune --all --yes
            EXAMPLE: humon projections prune --all --other-versions --dry-run
            """
    )

    @OptionGroup var choice: ReadModelChoice

    @Flag(help: "Also drop the read models of other versions of humon.")
    var otherVersions = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let schemas = try await choice.tending(options.database) { models in
            let unwanted = try await models.prunable(otherVersions: otherVersions)
            if trial.dryRun { return unwanted }
            if !unwanted.isEmpty {
                try await consent.require(
                    "This drops \(unwanted.joined(separator: ", ")). A rollback to these tables is impossible afterwards.")
            }
            return try await models.prune(otherVersions: otherVersions)
        }
        try options.output.write(
            ReadModelChoice.rows(ofDropped: schemas, isTrial: trial.dryRun), whenEmpty: "There was nothing to drop.")
    }
}

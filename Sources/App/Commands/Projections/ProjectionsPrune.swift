internal import ArgumentParser
internal import EventStore

extension Projections {
    /// `humon projections prune`
    struct Prune: AsyncParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Drop the tables that rebuilds replaced; then there is no way back to them.",
            discussion: """
                With --other-versions also the read models of other versions of humon, once no server answers from them any more.

                EXAMPLE: humon projections prune --all
                EXAMPLE: humon projections prune --all --other-versions
                """
        )

        @OptionGroup var choice: ReadModelChoice
        @OptionGroup var options: OutputOptions

        @Flag(help: "Also what other versions of humon have left.")
        var otherVersions = false

        func run() async throws {
            let gone = try await choice.tending { try await $0.prune(otherVersions: otherVersions) }
            try options.output.write(
                Table("schema", "state", rows: gone.map { [.text($0), .state(.good, "dropped")] }),
                whenEmpty: "There was nothing to drop."
            )
        }
    }
}

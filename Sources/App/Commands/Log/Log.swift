internal import ArgumentParser

/// `humon log`
struct Log: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look into the log, everything that ever happened, in order; check it, and carry it elsewhere.",
        discussion: "EXAMPLE: humon log tail -f",
        subcommands: [Tail.self, Show.self, Search.self, Trace.self, Stats.self, Verify.self, Export.self, Import.self]
    )
}

internal import ArgumentParser

/// `humon log`
struct Log: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Look into the log: everything that ever happened, in order.",
        discussion: "EXAMPLE: humon log tail -f",
        subcommands: [Tail.self, Show.self, Search.self, Trace.self, Stats.self]
    )
}

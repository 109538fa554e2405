internal import ArgumentParser

/// `humon followers`
struct FollowerCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "followers",
        abstract: "Look at those who follow the log, and let them try again what they could not handle.",
        discussion: "EXAMPLE: humon followers list",
        subcommands: [ListFollowers.self, ListParkedStreams.self, RetryParkedStreams.self]
    )
}

internal import ArgumentParser

/// `humon subscriptions`
struct SubscriptionCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "Look at those who follow the log, and let them try again what they could not handle.",
        discussion: "EXAMPLE: humon subscriptions list",
        subcommands: [ListSubscriptions.self, ListParkedStreams.self, RetryParkedStreams.self]
    )
}

internal import ArgumentParser

/// `humon subscriptions`
struct SubscriptionCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscriptions",
        abstract: "List the subscriptions to the log, and retry their parked streams.",
        discussion: "EXAMPLE: humon subscriptions list",
        subcommands: [ListSubscriptions.self, ListParkedStreams.self, RetryParkedStreams.self]
    )
}

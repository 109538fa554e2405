internal import ArgumentParser
internal import EventStore
internal import Logging
internal import Postgres

/// `humon subscriptions retry`
struct RetryParkedStreams: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Let a subscription try its parked streams again, once the cause is mended.",
        discussion: """
            Only marks them: the node that leads the subscription handles what has gathered, in order, within a second or so. What fails \
            again stays parked, with its new reason. Exits with 2 for an unknown subscription, and for a stream that is not parked.

            EXAMPLE: humon subscriptions retry feed
            EXAMPLE: humon subscriptions retry feed event-12
            """
    )

    @Argument(help: "The subscription's name.")
    var name: String

    @Argument(help: "The stream; all that are parked where none is named.")
    var stream: String?

    @OptionGroup var options: OutputOptions

    func run() async throws {
        let settings = try await Settings.load()
        let logger = Logger.humon(settings.logLevel)
        let count = try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
            try await database.using(database.asApplication(connections: 1), logger: logger) { client in
                let subscriptions = Subscriptions(client: client)
                try await subscriptions.requireSubscription(name)
                return try await subscriptions.retry(stream.map { StreamName($0) }, of: name)
            }
        }
        if count == 0, let stream {
            throw NegativeResult("\(stream) is not parked by \(name): humon subscriptions parked \(name) lists those that are.")
        }
        try options.output.write(["subscription": .text(name), "to_be_retried": .count(count)])
        if count > 0 {
            options.output.note(
                "The node that leads \(name) tries them within a second; humon subscriptions parked \(name) says what is left.")
        }
    }
}

internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Logging
internal import Postgres

/// `humon subscriptions retry`
struct SubscriptionsRetryCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Let a subscription retry its parked streams after you removed the cause.",
        discussion: """
            Marks the streams. The node that leads the subscription then handles their waiting events in order, within about a second. \
            A stream that fails again stays parked, with its new reason. Exits with 2 for an unknown subscription, and for a stream \
            that is not parked.

            EXAMPLE: humon subscriptions retry feed
            EXAMPLE: humon subscriptions retry feed event-12
            """
    )

    @Argument(help: "The subscription's name.")
    var name: String

    @Argument(help: "The stream. Without it, all parked streams.")
    var stream: String?

    @OptionGroup var options: CommandOptions

    func run() async throws {
        let count = try await options.database.with(.existing) { database, logger in
            try await database.using(database.asApplication(connections: 1), logger: logger) { client in
                let subscriptions = Subscriptions(client: client)
                if let absence = try await subscriptions.absence(of: name) { throw NegativeResult(absence) }
                return try await subscriptions.retry(stream.map { StreamName($0) }, of: name)
            }
        }
        if count == 0, let stream {
            throw NegativeResult(
                "\(stream) is not parked by \(name): humon subscriptions parked \(name) lists the parked streams.")
        }
        try options.output.write(["subscription": .string(name), "to_be_retried": JSON(count)])
        if count > 0 {
            options.output.note(
                "The node that leads \(name) retries them within a second; humon subscriptions parked \(name) lists the rest.")
        }
    }
}

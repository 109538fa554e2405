internal import ArgumentParser
internal import EventStore
internal import HTTP
internal import Users

/// `humon users erase`
struct UsersErase: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Forget a user: the token, all events and attendances, and every word in them.",
        discussion: """
            The log keeps that there was a user and when, and nothing that the person wrote. Backups and PostgreSQL's files \
            keep the words for longer: docs/privacy.md. Exits with 2 if no user has this id, and if words are left after ten seconds.

            EXAMPLE: humon users erase 7 --dry-run
            """
    )

    /// The request id in the metadata of the recorded events.
    static let context = CommandContext(requestID: "humon-users-erase")

    @Argument(help: "The user's id.")
    var id: Int64

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard id > 0 else { throw ValidationError("The id of a user is a number from 1.") }
    }

    func run() async throws {
        let (user, consent) = (UserID(rawValue: id), consent)
        let (values, isFinished) = try await database.with(.asVisitorOfExisting) { database, logger in
            try await database.appending(logger: logger) { modules -> ([(name: String, value: ReportValue)], Bool) in
                let users = modules[UsersModule.self]
                do {
                    let found = try await users.figures(of: user)
                    if consent.dryRun {
                        guard let figures = found else { return ([("state", .text("was erased before"))], true) }
                        return ([("state", .state(.doubtful, "would be erased"))] + figures.values, true)
                    }
                    // A repetition changes nothing, and waits for what is left.
                    if found != nil {
                        try await consent.require("This erases user \(user.rawValue) for ever. --dry-run shows what it ends.")
                    }
                    let erased = try await users.erase(user, by: nil, context: Self.context)
                    guard let figures = found, !erased.wasErased else {
                        return ([("state", .text("was erased before"))], erased.end != nil)
                    }
                    return (
                        [("state", .state(.good, "erased"))] + figures.values + [("position", .number(erased.position))],
                        erased.end != nil
                    )
                } catch UserRejection.unknownUser {
                    throw NegativeResult("No user has the id \(user.rawValue).")
                }
            }
        }
        try options.output.write(Record(fields: [("user", .number(id))] + values))
        guard isFinished else {
            throw NegativeResult(
                "Some of it is left, and ends while a server runs. Run this command again to see the end; humon doctor names what stops it."
            )
        }
    }
}

extension Erasures.Figures {
    fileprivate var values: [(name: String, value: ReportValue)] {
        [
            ("events", .count(Int64(streams["event"] ?? 0))), ("attendances", .count(Int64(streams["attendance"] ?? 0))),
            ("domain_events", .count(recordedEvents)), ("commands", .count(commands)),
            ("parked_streams", .count(parkedStreams)),
        ]
    }
}

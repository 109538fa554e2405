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
            The log keeps that there was a user and when, and nothing that the person wrote. The command also drops old \
            read models without readers, and names the remaining ones. Backups and PostgreSQL's files keep the words for longer: docs/privacy.md. Exits with 2 if no user has this id, and if words are left.

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
        let (values, old) = try await database.with(.asVisitorOfExisting) { database, logger in
            try await database.appending(logger: logger) {
                modules -> ([(name: String, value: ReportValue)], Result<[String], any Error>) in
                let users = modules[UsersModule.self]
                do {
                    guard let figures = try await users.figures(of: user) else {
                        let state = [(name: "state", value: ReportValue.text("was erased before"))]
                        guard !consent.dryRun else { return (state, .success([])) }
                        try await consent.require("User \(user.rawValue) was erased before. \(Self.loss)")
                        return (state, await dropOldReadModels(users))
                    }
                    let extent = figures.values
                    if consent.dryRun { return ([("state", .state(.doubtful, "would be erased"))] + extent, .success([])) }
                    try await consent.require(
                        "This erases user \(user.rawValue) for ever. --dry-run shows what it ends. \(Self.loss)")
                    let (position, wasErased) = try await users.erase(user, by: nil, context: Self.context)
                    let old = await dropOldReadModels(users)
                    guard !wasErased else { return ([("state", .text("was erased before"))], old) }
                    return ([("state", .state(.good, "erased"))] + extent + [("position", .number(position))], old)
                } catch UserRejection.unknownUser {
                    throw NegativeResult("No user has the id \(user.rawValue).")
                }
            }
        }
        // The user is erased by now, whatever becomes of the old read models.
        try options.output.write(Record(fields: [("user", .number(id))] + values))
        let left = try old.get()
        guard left.isEmpty else {
            throw NegativeResult(
                "Old read models are in use, and keep the words: \(left.joined(separator: ", ")). Run this command again when no program uses them."
            )
        }
    }

    private static let loss = "Old read models are dropped, so that a rollback to them is impossible afterwards."

    /// - Returns: the schemas that are left
    private func dropOldReadModels(_ users: UsersModule) async -> Result<[String], any Error> {
        do { return .success(try await users.dropOldReadModels()) } catch { return .failure(error) }
    }
}

extension PersonalErasure.Figures {
    fileprivate var values: [(name: String, value: ReportValue)] {
        [
            ("events", .count(Int64(streams["event"] ?? 0))), ("attendances", .count(Int64(streams["attendance"] ?? 0))),
            ("domain_events", .count(recordedEvents)), ("commands", .count(commands)),
            ("parked_streams", .count(parkedStreams)),
        ]
    }
}

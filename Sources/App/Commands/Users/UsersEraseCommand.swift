internal import ArgumentParser
internal import EventStore
internal import HTTP
internal import Users

/// `humon users erase`
struct UsersEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Forget a user: the token, all events and attendances, and every word in them.",
        discussion: """
            The log keeps that there was a user and when, and nothing that the person wrote. Backups keep the words for longer, \
            and so do PostgreSQL's files without --compact: docs/privacy.md. Exits with 2 if no user has this id, and if words are \
            left after ten seconds.

            EXAMPLE: humon users erase 7 --dry-run
            EXAMPLE: humon users erase 7 --compact --yes
            """
    )

    /// The request id in the metadata of the recorded events.
    static let context = CommandContext(requestID: "humon-users-erase")

    @Argument(help: "The user's id.")
    var id: Int64

    @Flag(
        help: "Then rewrite PostgreSQL's files without the words, and print the day on which backups lose them: docs/privacy.md.")
    var compact = false

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var database: DatabaseOptions
    @OptionGroup var options: OutputOptions

    /// - Throws: `ValidationError`
    func validate() throws {
        guard id > 0 else { throw ValidationError("The id of a user is a number from 1.") }
    }

    func run() async throws {
        let user = UserID(rawValue: id)
        let unknown = "No user has the id \(id)."
        try await database.erase(consent, trial, options, isCompacting: compact, unknown: unknown) { modules in
            let users = modules[UsersModule.self]
            return ErasablePerson(
                kind: "user", id: user.rawValue, parts: [("event", "events"), ("attendance", "attendances")],
                count: { try await users.erasures.figures(of: user.stream) },
                end: { try await users.erase(user, by: nil, context: Self.context) })
        }
    }
}

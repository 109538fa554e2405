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
            The log keeps that there was a user and when, and nothing that the person wrote. Backups and PostgreSQL's files keep \
            the words for longer: docs/privacy.md. Exits with 2 if no user has this id, and if words are left after ten seconds.

            EXAMPLE: humon users erase 7 --dry-run
            EXAMPLE: humon users erase 7 --yes
            """
    )

    @Argument(help: "The user's id.", transform: Parameter.fromOne)
    var id: Int64

    @OptionGroup var options: ErasureOptions

    func run() async throws {
        let user = UserID(rawValue: id)
        let unknown = "No user has the id \(id)."
        try await options.erase(unknown: unknown) { modules in
            let users = modules[UsersModule.self]
            return ErasablePerson(
                kind: "user", id: user.rawValue, parts: [("event", "events"), ("attendance", "attendances")],
                count: { try await users.erasures.figures(of: user.stream) },
                end: { try await users.erase(user, by: nil, context: CommandContext(requestID: "humon-users-erase")) })
        }
    }
}

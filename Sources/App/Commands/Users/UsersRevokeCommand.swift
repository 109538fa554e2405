internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import HTTP
internal import Users

/// `humon users revoke`
struct UsersRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End the token and the passes of a user, for example after a device was stolen.",
        discussion: """
            Requests with the token get 401 on every server from then on. No pass gives the user a token again: the person signs up \
            as a new user. Events and attendances of the user stay. Exits with 2 if no user has this id.

            EXAMPLE: humon users revoke 7 --yes
            """
    )

    @Argument(help: "The user's id.", transform: Parameter.fromOne)
    var id: Int64

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let (user, consent, trial) = (UserID(rawValue: id), consent, trial)
        let (state, position) = try await options.database.with(.existing) { database, logger in
            try await database.appending(logger: logger) { modules -> (String, Int64?) in
                let users = modules[UsersModule.self]
                do {
                    guard try await users.hasAccess(user) else { return ("had no token", nil) }
                    if trial.dryRun { return ("would be revoked", nil) }
                    try await consent.require("This ends the token and the passes of user \(user.rawValue) for ever.")
                    let (position, wasAlive) = try await users.revokeToken(
                        of: user, context: CommandContext(requestID: "humon-users-revoke"))
                    return wasAlive ? ("revoked", position) : ("had no token", nil)
                } catch UserRejection.unknownUser {
                    throw NegativeResult("No user has the id \(user.rawValue).")
                }
            }
        }
        try options.output.write(["user": JSON(id), "token": .string(state), "position": .integer(position)])
    }
}

internal import Accounts
internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import HTTP

/// `humon accounts revoke`
struct AccountsRevokeCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "revoke",
        abstract: "End all tokens of an account, for example after a phone was stolen.",
        discussion: """
            Requests with the tokens get 401 on every server from then on. The person signs in again with the password, and so can a \
            thief who knows it. Tasks of the account stay. Exits with 2 if no account has this id or address.

            EXAMPLE: humon accounts revoke 7 --yes
            EXAMPLE: humon accounts revoke ann@example.org --dry-run
            """
    )

    @Argument(help: "The account's id or e-mail address.")
    var account: String

    @OptionGroup var consent: ConsentOptions
    @OptionGroup var trial: TrialOptions
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let (name, consent, trial) = (account, consent, trial)
        let (id, state, count, position) = try await options.database.with(.existing) { database, logger in
            try await database.appending(logger: logger) { modules -> (AccountID, String, Int64, Int64?) in
                let accounts = modules[AccountsModule.self]
                do {
                    let (id, count) = try await accounts.account(named: name)
                    guard count > 0 else { return (id, "had no token", 0, nil) }
                    if trial.dryRun { return (id, "would be revoked", count, nil) }
                    try await consent.require("This ends \(count) tokens of account \(id.rawValue) for ever.")
                    let (ended, position) = try await accounts.revokeTokens(
                        of: id, context: CommandContext(requestID: "humon-accounts-revoke"))
                    return (id, "revoked", Int64(ended), position)
                } catch AccountRejection.unknownAccount {
                    throw NegativeResult("No account has this id or address.")
                }
            }
        }
        try options.output.write([
            "account": JSON(id.rawValue), "tokens": .string(state), "count": JSON(count), "position": .integer(position),
        ])
    }
}

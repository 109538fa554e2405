internal import Accounts
internal import ArgumentParser
internal import EventStore
internal import HTTP

/// `humon accounts erase`
struct AccountsEraseCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "erase",
        abstract: "Forget an account: name, address, password, tokens, all tasks, and every word in them.",
        discussion: """
            The log keeps that there was an account and when, and nothing that the person wrote. The address may sign up again, as \
            another account. Backups and PostgreSQL's files keep the words for longer: docs/privacy.md. Exits with 2 if no account \
            has this id or address, and if words are left after ten seconds.

            EXAMPLE: humon accounts erase 7 --dry-run
            EXAMPLE: humon accounts erase ann@example.org --yes
            """
    )

    @Argument(help: "The account's id or e-mail address.")
    var account: String

    @OptionGroup var options: ErasureOptions

    func run() async throws {
        let (name, unknown) = (account, "No account has this id or address.")
        try await options.erase(unknown: unknown) { modules in
            let accounts = modules[AccountsModule.self]
            let id: AccountID
            do { id = try await accounts.id(named: name) } catch AccountRejection.unknownAccount {
                throw NegativeResult(unknown)
            }
            return ErasablePerson(
                kind: "account", id: id.rawValue, parts: [("task", "tasks")],
                count: { try await accounts.erasures.figures(of: id.stream) },
                end: { try await accounts.erase(id, context: CommandContext(requestID: "humon-accounts-erase")) })
        }
    }
}

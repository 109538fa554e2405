internal import Accounts
internal import ArgumentParser
internal import EventStore

/// `humon accounts export`
struct AccountsExportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Print everything that is stored of an account and its tasks, as one JSON object.",
        discussion: """
            It is like the output of humon users export, with the hash of the password and the digests of tokens. Exits with 2 if no \
            account has this id or address.

            EXAMPLE: humon accounts export ann@example.org > account-7.json
            """
    )

    @Argument(help: "The account's id or e-mail address.")
    var account: String

    @OptionGroup var database: DatabaseOptions

    func run() async throws {
        let (name, unknown) = (account, "No account has this id or address.")
        try await database.export(unknown: unknown) { client in
            do { return try await AccountsModule.id(named: name, in: client).stream } catch AccountRejection.unknownAccount {
                throw NegativeResult(unknown)
            }
        }
    }
}

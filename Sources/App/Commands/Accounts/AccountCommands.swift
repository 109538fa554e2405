internal import ArgumentParser

/// `humon accounts`
struct AccountCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "accounts",
        abstract: "End the tokens of an account.",
        discussion: "EXAMPLE: humon accounts revoke 7 --dry-run",
        subcommands: [RevokeAccountTokens.self]
    )
}

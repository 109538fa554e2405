internal import ArgumentParser

/// `humon users`
struct UserCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "users",
        abstract: "End the token of a user.",
        discussion: "EXAMPLE: humon users revoke 7 --dry-run",
        subcommands: [RevokeToken.self]
    )
}

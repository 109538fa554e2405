internal import ArgumentParser

/// `humon events`
struct EventCommands: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "events",
        abstract: "Hide an event from all users, and show it again.",
        discussion: "EXAMPLE: humon events hide 12 --reason spam",
        subcommands: [HideEventCommand.self, UnhideEventCommand.self]
    )
}

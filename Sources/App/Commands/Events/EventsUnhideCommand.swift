internal import ArgumentParser
internal import Events

/// `humon events unhide`
struct EventsUnhideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "unhide",
        abstract: "Show a hidden event again.",
        discussion: """
            A cancelled event stays cancelled. Unhiding an event that is not hidden changes nothing. Exits with 2 if there is no such \
            event.

            EXAMPLE: humon events unhide 12
            """
    )

    @OptionGroup var event: EventArgument
    @OptionGroup var options: CommandOptions

    func run() async throws {
        let id = event.eventID
        try await event.change(isHidden: false, options) { events, context in
            try await events.unhide(id, context: context)
        }
    }
}

internal import ArgumentParser
internal import Events

/// `humon events hide`
struct EventsHideCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "hide",
        abstract: "Hide an event from all users, for example after a complaint.",
        discussion: """
            All servers answer 404 for the event from then on, and no list shows it. Its owner gets 410 with the message Event Hidden. \
            The reason stays in the log for ever; only tools show it, with --reveal. humon events unhide takes the command back. Hiding a hidden \
            event changes nothing. Exits with 2 if there is no such event.

            EXAMPLE: humon events hide 12 --reason spam
            """
    )

    @OptionGroup var event: EventArgument

    @Option(help: "Why the event is hidden, at most 1000 characters. Users never see it.")
    var reason: String

    @OptionGroup var options: CommandOptions

    /// - Throws: `ValidationError`
    func validate() throws { _ = try hidingReason }

    func run() async throws {
        let (id, reason) = (event.eventID, try hidingReason)
        try await event.change(isHidden: true, options) { events, context in
            try await events.hide(id, reason: reason, context: context)
        }
    }

    /// Not read by a transform: ArgumentParser would print the reason in the error.
    /// - Throws: `ValidationError`
    private var hidingReason: HidingReason {
        get throws {
            do { return try HidingReason(reason) } catch { throw ValidationError("\(error)") }
        }
    }
}

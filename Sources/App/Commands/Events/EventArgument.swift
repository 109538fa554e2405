internal import ArgumentParser
internal import Encoding
internal import EventStore
internal import Events
internal import HTTP

/// The event that a command changes.
struct EventArgument: ParsableArguments {
    @Argument(help: "The event's id.", transform: Parameter.fromOne)
    var id: Int64

    var eventID: EventID { EventID(rawValue: id) }

    /// Changes the event, and prints its state and the place of the recorded event. If nothing was recorded, prints no position.
    /// - Parameter isHidden: the state of the event after the change
    /// - Throws: ``NegativeResult`` if the event does not exist; the errors of the database and of the change
    func change(
        isHidden: Bool, _ options: CommandOptions,
        _ change: @escaping @Sendable (EventsModule, CommandContext) async throws -> EventsModule.Operated
    ) async throws {
        let (id, context) = (id, CommandContext(requestID: "humon-events"))
        let result = try await options.database.with(.existing) { database, logger in
            try await database.appending(logger: logger) { modules in
                do { return try await change(modules[EventsModule.self], context) } catch EventRejection.notFound {
                    throw NegativeResult("No event has the id \(id).")
                }
            }
        }
        try options.output.write([
            "event": JSON(id), "hidden": .bool(isHidden), "version": JSON(result.version),
            "position": .integer(result.isRepeat ? nil : result.position),
        ])
    }
}

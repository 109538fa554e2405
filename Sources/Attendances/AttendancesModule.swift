package import EventStore
package import Events
internal import Foundation
package import Postgres
public import Users

/// The front door of the module.
public struct AttendancesModule: Sendable {
    private let log: EventLog
    private let database: PostgresClient
    private let events: EventsModule
    private let surroundings: Surroundings

    package init(log: EventLog, database: PostgresClient, events: EventsModule, surroundings: Surroundings) {
        self.log = log
        self.database = database
        self.events = events
        self.surroundings = surroundings
    }

    /// Once or again, there is one attendance.
    /// - Throws: ``AttendanceRejection``
    public func attend(_ command: AttendEvent, origin: Origin) async throws {
        let attendsAlready = try await attends(command)
        let eventExists = if attendsAlready { true } else { try await events.exists(command.event) }
        guard let added = try decide(command, eventExists: eventExists, attendsAlready: attendsAlready) else { return }
        // The id comes from the event and the user, so that saying it twice at once is saying it once.
        _ = try await log.append(
            Append(
                id: UUID(derivedFrom: "attendance \(command.event.rawValue) \(command.by.rawValue)"),
                stream: added.stream,
                expectedVersion: 0,
                recordedAt: surroundings.now(),
                metadata: origin.metadata(actor: command.by),
                event: AttendanceDomainEvent.added(added)
            )
        )
    }

    private func attends(_ command: AttendEvent) async throws -> Bool {
        try await database.query(
            """
            SELECT 1::bigint FROM attendances.attendances
            WHERE event_id = \(command.event.rawValue) AND user_id = \(command.by.rawValue)
            """
        ).isEmpty == false
    }
}

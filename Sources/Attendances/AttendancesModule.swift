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
    private let outcomes: Outcomes
    private let surroundings: Surroundings

    package init(log: EventLog, database: PostgresClient, events: EventsModule, surroundings: Surroundings) {
        self.log = log
        self.database = database
        self.events = events
        self.surroundings = surroundings
        outcomes = Outcomes(client: database)
    }

    /// Once or again, there is one attendance.
    /// - Throws: ``AttendanceRejection``
    public func attend(_ command: AttendEvent, origin: Origin) async throws {
        let key = origin.commandKey(actor: command.by)
        do {
            guard try await outcomes.first(of: key) == nil else { return }
            let attendsAlready = try await attends(command)
            let eventExists = if attendsAlready { true } else { try await events.exists(command.event) }
            if let added = try decide(command, eventExists: eventExists, attendsAlready: attendsAlready),
                try await append(added, key: key, origin: origin)
            {
                return
            }
            try await outcomes.remember(key, recordedAs: command.stream, version: 1)
        } catch is KeyReused {
            throw AttendanceRejection.keyReused
        }
    }

    /// False where the attendance is recorded already, under another id.
    private func append(_ added: AttendanceAdded, key: CommandKey?, origin: Origin) async throws -> Bool {
        do {
            // Without a key the id comes from the event and the user, so that saying it twice at once is saying it once.
            _ = try await log.append(
                Append(
                    id: key?.id ?? UUID(derivedFrom: "attendance \(added.event.rawValue) \(added.user.rawValue)"),
                    fingerprint: key?.fingerprint,
                    stream: added.stream,
                    expectedVersion: 0,
                    recordedAt: surroundings.now(),
                    metadata: origin.metadata(actor: added.user),
                    event: AttendanceDomainEvent.added(added)
                )
            )
            return true
        } catch is VersionConflict {
            return false
        }
    }

    private func attends(_ command: AttendEvent) async throws -> Bool {
        try await database.query(
            """
            SELECT 1::bigint FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE event_id = \(command.event.rawValue) AND user_id = \(command.by.rawValue)
            """
        ).isEmpty == false
    }
}

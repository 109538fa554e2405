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
    private let idempotency: IdempotencyStore
    private let dependencies: Dependencies

    package init(log: EventLog, database: PostgresClient, events: EventsModule, dependencies: Dependencies) {
        self.log = log
        self.database = database
        self.events = events
        self.dependencies = dependencies
        idempotency = IdempotencyStore(client: database)
    }

    /// Once or again, there is one attendance.
    /// - Returns: a position from which on it is there
    /// - Throws: ``AttendanceRejection``
    @discardableResult
    public func attend(_ command: AttendEvent, context: CommandContext) async throws -> Int64 {
        let key = context.recordKey(actor: command.by)
        do {
            if let first = try await idempotency.first(of: key) { return first.position }
            let attendsAlready = try await attends(command)
            let eventExists = if attendsAlready { true } else { try await events.exists(command.event) }
            if let added = try decide(command, eventExists: eventExists, attendsAlready: attendsAlready),
                let position = try await append(added, key: key, context: context)
            {
                return position
            }
            try await idempotency.remember(key, recordedAs: command.stream, version: 1)
            return try await LogReader(client: database).tail()
        } catch is KeyReusedError {
            throw AttendanceRejection.keyReused
        }
    }

    /// nil where the attendance is recorded already, under another id.
    private func append(_ added: AttendanceAdded, key: IdempotencyRecordKey?, context: CommandContext) async throws -> Int64? {
        do {
            // Without a key the id comes from the event and the user, so that saying it twice at once is saying it once.
            return try await log.append(
                AppendRequest(
                    id: key?.id ?? UUID(derivedFrom: "attendance \(added.event.rawValue) \(added.user.rawValue)"),
                    requestHash: key?.requestHash,
                    stream: added.stream,
                    expectedVersion: 0,
                    recordedAt: dependencies.now(),
                    metadata: context.metadata(actor: added.user),
                    event: AttendanceDomainEvent.added(added)
                )
            ).position
        } catch is VersionConflictError {
            return nil
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

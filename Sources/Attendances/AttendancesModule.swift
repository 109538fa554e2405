public import EventStore
internal import Events
internal import Foundation
internal import Postgres
internal import Users

extension Module {
    /// Users who attend events.
    package static let attendances = Module(
        "attendances", domainEvents: [AttendanceDomainEvent.self], projections: [AttendancesProjection()])
}

/// Records who attends which event.
public struct AttendancesModule: Sendable {
    private let log: EventLog
    private let database: PostgresClient
    private let events: EventsModule
    private let idempotency: IdempotencyStore
    private let dependencies: Dependencies

    package init(_ context: ModuleContext) {
        log = context.log
        database = context.database
        events = context[EventsModule.self]
        dependencies = context.dependencies
        idempotency = IdempotencyStore(client: database)
    }

    /// Lets a user attend an event. A repetition changes nothing.
    /// - Returns: a position from which on the attendance is in the log
    /// - Throws: ``AttendanceRejection``, `KeyReusedError`, and what `EventLog.append(_:)` throws
    @discardableResult
    public func attend(_ command: AttendEvent, context: CommandContext) async throws -> Int64 {
        let key = context.recordKey(actor: command.by.rawValue)
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
    }

    /// - Returns: `nil` if the attendance is recorded already, under another id
    private func append(_ added: AttendanceAdded, key: IdempotencyRecordKey?, context: CommandContext) async throws -> Int64? {
        do {
            // Without a key the id derives from the event and the user, so that two requests at the same time record one attendance.
            return try await log.append(
                AppendRequest(
                    id: key?.id ?? UUID(derivedFrom: "attendance \(added.event.rawValue) \(added.user.rawValue)"),
                    requestHash: key?.requestHash,
                    stream: added.stream,
                    expectedVersion: 0,
                    recordedAt: dependencies.now(),
                    metadata: context.metadata(actor: added.user.rawValue),
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

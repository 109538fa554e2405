internal import Encoding
public import EventStore
internal import Events
internal import Foundation
internal import Postgres
package import ServiceLifecycle
internal import Users

extension Module {
    /// Users who attend events.
    package static let attendances = Module(
        "attendances", domainEvents: [AttendanceDomainEvent.self], projections: [AttendancesProjection()])
}

/// Records who attends which event.
public struct AttendancesModule: Sendable {
    let database: PostgresClient
    let events: EventsModule
    let counts: InMemoryReadModel<AttendanceCounts>?
    private let log: EventLog
    private let idempotency: IdempotencyStore
    private let dependencies: Dependencies
    private let state: CommandState

    /// Keeps the counts of attendances in memory if the context has a notifier.
    package init(_ context: ModuleContext) {
        log = context.log
        database = context.database
        let events = context[EventsModule.self]
        self.events = events
        dependencies = context.dependencies
        idempotency = IdempotencyStore(client: database)
        state = CommandState(of: AttendancesProjection(), client: database)
        let counts = context.notifier.map { notifier in
            // A server has one connection for loads. The index of events comes first.
            InMemoryReadModel(
                AttendanceCounts(), client: context.database, standby: context.find(), notifier: notifier,
                logger: context.logger
            ) { !events.isLoadingIndex }
        }
        self.counts = counts
        if let counts { log.add(counts) }
    }

    /// The services that must run with the module.
    package var services: [any Service] { counts.map { [$0] } ?? [] }

    /// Lets a user attend an event. A repetition changes nothing.
    /// - Parameter condition: what must hold when the attendance is recorded
    /// - Returns: a position from which on the attendance is in the log
    /// - Throws: `EventRejection`, `KeyReusedError`, `StreamContended`, `ReadModelError.behind`, what `EventLog.append(_:)` throws, and
    ///   `UncheckedConditionError` if a command under a condition changes nothing
    @discardableResult
    public func attend(
        _ command: AttendEvent, condition: AppendCondition? = nil, context: CommandContext
    ) async throws -> Int64 {
        try await change(AttendanceKey(event: command.event, user: command.by), if: condition, context: context) {
            try decide(command, on: $0, of: $1)
        }
    }

    /// Lets a user leave an event, a cancelled or hidden one too. A repetition changes nothing.
    /// - Parameter condition: what must hold when the end of the attendance is recorded
    /// - Returns: a position from which on the log has no attendance of the user
    /// - Throws: `EventRejection` if the user does not attend and may not know of the event, and what ``attend(_:condition:context:)`` throws
    @discardableResult
    public func leave(
        _ command: LeaveEvent, condition: AppendCondition? = nil, context: CommandContext
    ) async throws -> Int64 {
        try await change(AttendanceKey(event: command.event, user: command.by), if: condition, context: context) {
            try decide(command, on: $0, of: $1)
        }
    }

    /// Appends what the rule decides on the present attendance, once for each idempotency key. If another writer is faster, the rule
    /// decides again. Returns when this node's counts show the result, or after a second.
    private func change(
        _ key: AttendanceKey, if condition: AppendCondition?, context: CommandContext,
        decide: (Attendance, Event?) throws -> AttendanceDomainEvent?
    ) async throws -> Int64 {
        let record = context.recordKey(actor: key.user.rawValue)
        let position = try await idempotency.idempotently(record) {
            try await append(to: key, if: condition, record: record, context: context, decide: decide)
        }.position
        await counts?.waitUntilVisible(position)
        return position
    }

    private func append(
        to key: AttendanceKey, if condition: AppendCondition?, record: IdempotencyRecordKey?, context: CommandContext,
        decide: (Attendance, Event?) throws -> AttendanceDomainEvent?
    ) async throws -> AppendResult {
        try await ConflictRetry(dependencies: dependencies).run { conflict in
            let (attendance, attended) = try await present(key, atLeast: conflict?.actual ?? 0)
            guard let event = try decide(attendance, attended) else {
                return try await idempotency.endWithoutEvent(
                    record, stream: key.stream, version: attendance.version, if: condition)
            }
            let appended = try await log.append(
                AppendRequest(
                    id: record?.id ?? key.domainEventID(version: attendance.version + 1),
                    requestHash: record?.requestHash,
                    stream: key.stream,
                    expectedVersion: attendance.version,
                    condition: condition,
                    recordedAt: dependencies.now(),
                    metadata: context.metadata(actor: key.user.rawValue),
                    event: event
                )
            )
            // The log had the event of a request at the same time, and has checked no condition.
            if appended.isRepeat, condition != nil { throw UncheckedConditionError() }
            return appended
        }
    }

    /// Reads what a command is decided on in one round trip.
    private func present(_ key: AttendanceKey, atLeast version: Int32) async throws -> (attendance: Attendance, event: Event?) {
        let query: SQL = """
            SELECT \(AttendancesProjection.layout.names) FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE event_id = \(key.event.rawValue) AND user_id = \(key.user.rawValue)
            """
        var event: Event?
        let attendance = try await state.read(atLeast: version, version: \.version) {
            let rows = try await database.run([query, EventsModule.query(of: key.event)])
            event = try EventsModule.event(in: rows[1])
            return try rows[0].first.map { try Attendance($0) }
        }
        return (attendance ?? Attendance(key: key), event)
    }
}

extension AttendanceKey {
    /// The id of the recorded event of this version if its request has no idempotency key: two requests at the same time record one
    /// domain event. The first version's id is a stored format.
    func domainEventID(version: Int32) -> UUID {
        let first = "attendance \(event.rawValue) \(user.rawValue)"
        return UUID(derivedFrom: version == 1 ? first : "\(first) \(version)")
    }
}

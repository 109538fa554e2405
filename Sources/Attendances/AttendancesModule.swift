internal import Encoding
public import EventStore
public import Events
internal import Foundation
internal import Postgres
public import Users

extension StoredModule {
    /// Users who attend events.
    package static let attendances = StoredModule(
        "attendances", domainEvents: [AttendanceDomainEvent.self], projections: [AttendancesProjection()])
}

/// Records who attends which event.
public struct AttendancesModule: Sendable {
    /// All attendances, also those that ended.
    static let ofUser = PersonalStreams(of: UserDomainEvent.category) { user, database in
        try await StateReader(of: AttendancesProjection(), client: database).rows(
            """
            SELECT event_id FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE user_id = \(user) ORDER BY event_id
            """
        ).decode(Int64.self).map { event in
            let key = AttendanceKey(event: EventID(rawValue: event), user: UserID(rawValue: user))
            return PersonalStream(key.stream, endsWith: AttendanceDomainEvent.erased(key))
        }
    }

    let database: PostgresClient
    let events: EventsModule
    /// The numbers of attendees, by event.
    let counts: BatchedLookup<EventID, Int64>
    private let commands: CommandHandler

    package init(_ composition: Composition) {
        let database = composition.database
        self.database = database
        events = composition[EventsModule.self]
        counts = BatchedLookup { try await Self.counts(of: $0, database) }
        commands = CommandHandler(composition, state: StateReader(of: AttendancesProjection(), client: database))
    }

    /// Lets a user attend an event. A repetition changes nothing.
    /// - Returns: a position from which on the attendance is in the log
    /// - Throws: `EventRejection`, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    @discardableResult
    public func attend(_ event: EventID, by user: UserID, context: CommandContext) async throws -> Int64 {
        try await change(AttendanceKey(event: event, user: user), context) { try decideAttending($0, of: $1) }
    }

    /// Lets a user leave an event, a cancelled or hidden one too. A repetition changes nothing.
    /// - Returns: a position from which on the log has no attendance of the user
    /// - Throws: `EventRejection` if the user does not attend and may not know of the event, and what ``attend(_:by:context:)`` throws
    @discardableResult
    public func leave(_ event: EventID, by user: UserID, context: CommandContext) async throws -> Int64 {
        try await change(AttendanceKey(event: event, user: user), context) { try decideLeaving($0, of: $1) }
    }

    /// Appends what the rule decides on the present attendance.
    private func change(
        _ key: AttendanceKey, _ context: CommandContext, _ decide: (Attendance, Event?) throws -> AttendanceDomainEvent?
    ) async throws -> Int64 {
        let user = key.user.rawValue
        return try await commands.handle(context, by: key.user.stream) {
            let (attendance, event) = try await present(key)
            return Decision(
                try decide(attendance, event), to: key.stream, after: attendance.version, by: user,
                id: key.domainEventID(version: attendance.version + 1))
        }.place.position
    }

    /// Reads what a command is decided on in one round trip.
    private func present(_ key: AttendanceKey) async throws -> (attendance: Attendance, event: Event?) {
        let query: SQL = """
            SELECT \(AttendancesProjection.columns) FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE event_id = \(key.event.rawValue) AND user_id = \(key.user.rawValue)
            """
        let rows = try await database.run([query, EventsModule.query(of: key.event)])
        return (try rows[0].first.map { try Attendance($0) } ?? Attendance(key: key), try EventsModule.event(in: rows[1]))
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

internal import Encoding
internal import EventStore
public import Events
internal import Postgres
public import Users

/// The attendances of one event as one reader sees them.
public struct AttendanceSummary: Sendable, Hashable {
    /// Number of users who attend the event.
    public var count: Int64
    /// Whether the reader attends it; false if the reader is not known.
    public var isAttending: Bool
}

/// A place in the list of a user's attendances, newest first. The text is opaque to clients.
public struct AttendanceCursor: Sendable, Hashable, CustomStringConvertible {
    /// From 1970 to 9999: PostgreSQL can store all of these times.
    private static let milliseconds: ClosedRange<Int64> = 0...253_402_300_799_999

    var attendedAt: Timestamp
    var event: EventID

    public var description: String { "\(attendedAt.milliseconds)-\(event.rawValue)" }
}

extension AttendanceCursor {
    /// `nil` for a text that is no cursor.
    public init?(_ text: String) {
        let parts = text.parts(separatedBy: "-")
        guard parts.count == 2, let milliseconds = Int64(parts[0]), let event = Int64(parts[1]) else { return nil }
        guard Self.milliseconds.contains(milliseconds) else { return nil }
        self.init(attendedAt: Timestamp(milliseconds: milliseconds), event: EventID(rawValue: event))
    }
}

extension AttendancesModule {
    /// The largest number of entries in one page, and the default.
    public static let maximumLimit = 1_000
    /// Maximum number of queries for one page. A page is shorter than its limit if these find too few events that can be shown.
    private static let queryLimit = 10

    /// The attendances of an event. The caller checks that the event is there.
    /// - Parameters:
    ///   - reader: `nil` if the reader is not known
    ///   - position: the position of a write that the summary must contain
    /// - Throws: `PositionNotReachedError`, `PostgresError`, `CancellationError`
    public func summary(
        of event: EventID, for reader: UserID?, atLeast position: Int64? = nil
    ) async throws -> AttendanceSummary {
        try await require(position)
        // The count must not be older than this answer.
        let isAttending = if let reader { try await attends(reader, event) } else { false }
        return AttendanceSummary(count: try await counts.value(of: event) ?? 0, isAttending: isAttending)
    }

    private func attends(_ user: UserID, _ event: EventID) async throws -> Bool {
        try await !database.query(
            """
            SELECT 1::bigint FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE event_id = \(event.rawValue) AND user_id = \(user.rawValue) AND attended_at IS NOT NULL
            """
        ).isEmpty
    }

    /// Events without attendances, present or ended, have no entry.
    static func counts(of events: [EventID], _ database: PostgresClient) async throws -> [EventID: Int64] {
        let rows = try await database.query(query(ofCounts: events)).decode((Int64, Int64).self)
        return Dictionary(rows.map { (EventID(rawValue: $0), $1) }) { first, _ in first }
    }

    static func query(ofCounts events: [EventID]) -> SQL {
        """
        SELECT e.id, l.attendee_count FROM unnest(\(events.map(\.rawValue))) AS e (id)
        CROSS JOIN LATERAL (\(AttendancesProjection.last(of: "e.id"))) AS l
        """
    }

    /// The users who attend an event, in the order of their ids. The event's owner alone may read them, which the caller checks.
    /// - Returns: a page, and the cursor of the next one; `nil` at the end
    /// - Throws: `PositionNotReachedError`, `PostgresError`, `CancellationError`
    public func attendees(
        of event: EventID, after cursor: UserID?, limit: Int, atLeast position: Int64? = nil
    ) async throws -> (users: [UserID], next: UserID?) {
        try await require(position)
        let found = try await database.query(
            """
            SELECT user_id FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE event_id = \(event.rawValue) AND user_id > \(cursor?.rawValue ?? 0) AND attended_at IS NOT NULL
            ORDER BY user_id LIMIT \(Int64(limit) + 1)
            """
        ).decode(Int64.self).map(UserID.init(rawValue:))
        let users = Array(found.prefix(limit))
        return (users, found.count > limit ? users.last : nil)
    }

    /// The live events that a user attends, the newest attendance first. An event that is newer than the index is left out.
    /// - Returns: a page, and the cursor of the next one; `nil` at the end
    /// - Throws: `CancellationError`, and what `EventsModule.view(atLeast:)` throws
    public func events(
        attendedBy user: UserID, after cursor: AttendanceCursor?, limit: Int, atLeast position: Int64? = nil
    ) async throws -> (events: [RenderedEvent], next: AttendanceCursor?) {
        let view = try await events.view(atLeast: position)
        try await require(position)
        var (found, cursor): ([RenderedEvent], AttendanceCursor?) = ([], cursor)
        for _ in 0..<Self.queryLimit {
            let missing = limit - found.count
            let attended = try await attended(by: user, after: cursor, limit: missing + 1)
            let page = attended.prefix(missing)
            found += page.compactMap { view.event($0.event) }
            guard attended.count > missing else { return (found, nil) }
            cursor = page.last
            if found.count == limit { break }
        }
        return (found, cursor)
    }

    /// The events that a user owns or attends, for a calendar program. Those that were cancelled lately are among them.
    /// - Throws: what `EventsModule.calendar(of:attending:)` throws
    public func calendar(of user: UserID) async throws -> EventCalendar {
        let attended = try await attended(by: user, after: nil, limit: EventsModule.ownCalendarLimit)
        return try await events.calendar(of: user, attending: attended.map(\.event))
    }

    private func attended(by user: UserID, after cursor: AttendanceCursor?, limit: Int) async throws -> [AttendanceCursor] {
        let isBehind: SQL =
            if let cursor { "AND (attended_at, event_id) < (\(cursor.attendedAt), \(cursor.event.rawValue))" } else { "" }
        return try await database.query(
            """
            SELECT attended_at, event_id FROM \(identifier: AttendancesProjection.schema).attendances
            WHERE user_id = \(user.rawValue) AND attended_at IS NOT NULL \(isBehind)
            ORDER BY attended_at DESC, event_id DESC LIMIT \(Int64(limit))
            """
        ).decode((Timestamp, Int64).self).map { AttendanceCursor(attendedAt: $0, event: EventID(rawValue: $1)) }
    }

    /// Checks that the read model holds a position. Appends of another version of the program leave it behind.
    private func require(_ position: Int64?) async throws {
        guard let position else { return }
        guard try await ReadModelState.of(AttendancesProjection.self, database).position >= position else {
            throw PositionNotReachedError(position: position)
        }
    }
}

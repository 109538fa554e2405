public import Encoding
internal import EventStore
internal import Postgres
public import Users

/// A page of the live events of one user, newest first: in the descending order of their ids.
public struct OwnEvents: Sendable, Hashable {
    /// The largest number of events in one page, and the default.
    public static let maximumLimit = 1_000

    public var owner: UserID
    public var limit: Int
    /// The last event of the page before. It need not be live any more.
    public var after: EventID?

    /// - Parameter json: the fields `limit` and `after`
    /// - Throws: ``EventRejection/invalid(errors:)`` with all validation errors
    public init(of owner: UserID, _ json: JSON) throws(EventRejection) {
        var fields = EventFields(json)
        let limit = fields.wholeNumber("limit", in: 1...Double(Self.maximumLimit)).optional
        after = fields.eventCursor().optional
        guard fields.errors.isEmpty else { throw .invalid(errors: fields.errors) }
        self.owner = owner
        self.limit = limit.map { Int($0) } ?? Self.maximumLimit
    }

    public struct Page: Sendable, Hashable {
        public var events: [Event]
        /// The cursor of the next page; `nil` at the end.
        public var next: EventID?
    }
}

extension OwnEvents {
    /// Reads one row more than the limit. The extra row shows that there is another page.
    var query: SQL {
        """
        SELECT \(EventRow.columns)
        FROM \(identifier: EventsProjection.schema).events
        WHERE owner_id = \(owner.rawValue) AND id < \(after?.rawValue ?? .max) AND \(EventRow.isLive)
        ORDER BY id DESC LIMIT \(Int64(limit) + 1)
        """
    }
}

extension EventsModule {
    /// Reads PostgreSQL.
    /// - Parameter position: the position of a write that the page must show; `nil` for none
    /// - Throws: ``PositionNotReachedError``, `PostgresError`, `FormatError`
    public func page(_ own: OwnEvents, atLeast position: Int64? = nil) async throws -> OwnEvents.Page {
        if let position, try await ReadModelState.of(EventsProjection.self, database).position < position {
            throw PositionNotReachedError(position: position)
        }
        let events = try await database.query(own.query).map { try Event($0) }
        let kept = Array(events.prefix(own.limit))
        return OwnEvents.Page(events: kept, next: events.count > own.limit ? kept.last?.id : nil)
    }
}

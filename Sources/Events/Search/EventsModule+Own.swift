internal import EventStore
internal import Postgres
public import Users

extension EventsModule {
    /// The largest number of events in one page of a user's own events, and the default.
    public static let ownEventsLimit = 1_000

    /// A page of the live events of one user, newest first: in the descending order of their ids. PostgreSQL has the ids, and the index the
    /// events: one that is newer than the index is left out.
    /// - Parameters:
    ///   - after: the last event of the page before, which need not be live any more
    ///   - position: the position of a write that the page must show; `nil` for none
    /// - Returns: the events, and the cursor of the next page; `nil` at the end
    /// - Throws: what ``view(atLeast:)`` throws
    public func ownEvents(
        of owner: UserID, after: EventID?, limit: Int, atLeast position: Int64? = nil
    ) async throws -> (events: [RenderedEvent], next: EventID?) {
        let view = try await view(atLeast: position)
        if let position, try await ReadModelState.of(EventsProjection.self, database).position < position {
            throw PositionNotReachedError(position: position)
        }
        let ids = try await database.query(Self.query(ofOwner: owner, after: after, limit: limit))
            .decode(Int64.self).map(EventID.init(rawValue:))
        let kept = ids.prefix(limit)
        return (kept.compactMap(view.event), ids.count > limit ? kept.last : nil)
    }

    /// Reads one id more than the limit. It shows that there is another page.
    static func query(ofOwner owner: UserID, after: EventID?, limit: Int) -> SQL {
        """
        SELECT id
        FROM \(identifier: EventsProjection.schema).events
        WHERE owner_id = \(owner.rawValue) AND id < \(after?.rawValue ?? .max) AND \(EventRow.isLive)
        ORDER BY id DESC LIMIT \(Int64(limit) + 1)
        """
    }
}

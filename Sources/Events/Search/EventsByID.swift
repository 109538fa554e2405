internal import Encoding
internal import EventStore
internal import Postgres
public import Users

extension EventsView {
    /// The live events among these, in their order, as JSON. Cancelled, hidden and unknown events are left out.
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`
    public func events(_ ids: [EventID]) async throws -> [RenderedEvent] {
        let held = ids.map(indexedEvent)
        let missing = zip(ids, held).filter { $1 == nil }.map(\.0)
        guard !missing.isEmpty else { return held.compactMap(\.self) }
        let read = try await module.rendered(missing)
        return zip(ids, held).compactMap { id, event in event ?? read[id] }
    }
}

extension PositionNotReachedError {
    public init(_ position: Int64) { self.init(position: position) }
}

extension EventsModule {
    /// Whether the index loads for the first time since the start.
    package var isLoadingIndex: Bool { index?.state.phase == .filling }

    /// Checks that an event is live, and that a user owns it.
    /// - Throws: ``EventRejection/notFound``, ``EventRejection/hidden``, ``EventRejection/cancelled``, ``EventRejection/forbidden``,
    ///   `PostgresError`
    public func checkOwned(_ id: EventID, by user: UserID) async throws {
        guard try await event(id).live(for: user).owner == user else { throw EventRejection.forbidden }
    }

    fileprivate func rendered(_ ids: [EventID]) async throws -> [EventID: RenderedEvent] {
        let rows = try await database.query(
            """
            SELECT \(EventRow.columns)
            FROM \(identifier: EventsProjection.schema).events
            WHERE id = ANY(\(ids.map(\.rawValue))) AND \(EventRow.isLive)
            """
        )
        let events = try rows.map { row in
            let event = try Event(row)
            var json: [UInt8] = []
            render(event, &json)
            return (event.id, RenderedEvent(version: event.version, source: .rendered(json)))
        }
        return Dictionary(events) { first, _ in first }
    }
}

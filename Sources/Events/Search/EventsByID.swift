internal import Encoding
internal import EventStore
internal import Postgres

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

extension EventsModule {
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
            return (event.id, rendered(event))
        }
        return Dictionary(events) { first, _ in first }
    }
}

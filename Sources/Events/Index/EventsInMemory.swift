package import EventStore
package import Logging
package import Postgres
internal import SpatialIndex
internal import Synchronization

/// The live events of a node in its index, and the hidden events beside it.
package final class EventsInMemory: InMemoryContent {
    package typealias Event = EventDomainEvent

    package static let name = (subject: "the index", verb: "is")
    package static let source: any Projection.Type = EventsProjection.self
    package static let pageLimit: Int64 = 200
    package static var countQuery: SQL {
        "SELECT count(*) FROM \(identifier: EventsProjection.schema).events WHERE \(EventRow.isLive)"
    }

    let index = EventIndex()
    package let limit: Int
    let render: EventRendering
    /// Whether a comparison is under way.
    let isCompared = Mutex(false)
    private let listener: (any EventChangeListener)?
    private let hidden = Mutex(HiddenEvents())

    /// - Parameters:
    ///   - limitBytes: the largest size of the index; if the events need more, requests read PostgreSQL instead
    ///   - render: writes an event as the API shows it. The bytes must depend on nothing but id, owner and details, because the index
    ///     keeps them while an event is hidden
    ///   - listener: learns every change of the index
    package init(limitBytes: Int, render: @escaping EventRendering, listener: (any EventChangeListener)? = nil) {
        limit = limitBytes
        self.render = render
        self.listener = listener
    }

    package var count: Int { index.snapshot.count }

    /// An earlier state counts while a reader holds it.
    package var bytes: Int { presentBytes + index.backlogBytes }

    private var presentBytes: Int { index.snapshot.bytes + hidden.withLock { $0.bytes } }

    /// What the node holds at one position.
    var held: HeldEvents { hidden.withLock { HeldEvents(snapshot: index.snapshot, hidden: $0.events) } }

    package func load(_ connection: LeasedConnection, logger: Logger) async throws -> @Sendable (LogCursor) -> Void {
        let estimate = try await connection.query(
            "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(\(EventsProjection.schema + ".events"))"
        ).decode(Int64.self)
        let rows = EventBulkLoad(estimate: Int(estimate.first ?? 0), limitBytes: limit, render: render, logger: logger)
        try await rows.copy(connection)
        return { [self] cursor in
            let events = rows.fill(index, at: cursor)
            hidden.withLock { $0 = HiddenEvents(events) }
            listener?.indexLoaded(at: cursor.position)
        }
    }

    package func apply(
        _ events: ArraySlice<(position: Int64, envelope: EventEnvelope<any DomainEvent>)>, through end: LogCursor
    ) {
        let events = events.lazy.compactMap { position, envelope in
            envelope.of(EventDomainEvent.self).map { (position: position, envelope: $0) }
        }
        let snapshot = index.snapshot
        let changes = hidden.withLock { hidden in
            let changes = IndexChanges(events, render: render) { hidden.events[$0] ?? snapshot.event($0).map(HeldEvent.init) }
            index.apply(EventIndex.Batch(changes), position: end.position, mark: end.mark)
            hidden.apply(changes)
            return changes
        }
        listener?.indexApplied(changes.changes, through: end.position)
    }

    package func removeAll() {
        hidden.withLock { $0 = HiddenEvents() }
        index.removeAll()
        listener?.indexClosed()
    }

    package func checkLimit() throws {
        guard presentBytes > limit else { return }
        throw InMemoryLimitError(ofIndex: limit, events: count)
    }

    package func agrees(in model: InMemoryReadModel<EventsInMemory>) async throws -> Bool? {
        try await model.examine().differing == 0
    }
}

extension InMemoryLimitError {
    /// - Parameter events: number of events that do not fit
    init(ofIndex limitBytes: Int, events: Int) {
        self.init(
            count: events,
            description: "they do not fit into \(limitBytes / 1_000_000) MB: raise HUMON_INDEX_MEGABYTES, if there is more")
    }
}

extension InMemoryReadModel<EventsInMemory> {
    /// The snapshot if the index is in use and holds every change that was acknowledged here; nil if the request must read
    /// PostgreSQL.
    var readable: EventIndex.Snapshot? {
        guard state.isInUse else { return nil }
        let snapshot = content.index.snapshot
        return snapshot.position >= state.requiredPosition ? snapshot : nil
    }
}

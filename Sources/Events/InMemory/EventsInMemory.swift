internal import EventStore
internal import Logging
internal import Postgres
internal import SpatialIndex
internal import Synchronization

/// The live events of a node in its index, and the hidden events beside it.
///
/// Thread-safe: requests read the content while ``InMemoryReadModel`` changes it. The model makes one change at a time.
package final class EventsInMemory: Sendable {
    let index = EventIndex()
    let limit: Int
    let render: EventRendering
    /// Whether a comparison is under way.
    let isCompared = Mutex(false)
    private let listener: (any EventChangeListener)?
    private let hidden = Mutex(HiddenEvents())

    /// - Parameters:
    ///   - limitBytes: the size of the index from which on this node takes no new events
    ///   - render: writes an event as the API shows it. The bytes must depend on nothing but id, owner and details, because the index
    ///     keeps them while an event is hidden
    ///   - listener: learns every change of the index
    package init(limitBytes: Int, render: @escaping EventRendering, listener: (any EventChangeListener)? = nil) {
        limit = limitBytes
        self.render = render
        self.listener = listener
    }

    var count: Int { index.snapshot.count }

    /// An earlier state counts while a reader holds it.
    var bytes: Int { presentBytes + index.backlogBytes }

    private var presentBytes: Int { index.snapshot.bytes + hidden.withLock { $0.bytes } }

    /// What the node holds at one position: the index, and the hidden events, which are no part of it.
    var held: (snapshot: EventIndex.Snapshot, hidden: [EventID: HeldEvent]) {
        hidden.withLock { (index.snapshot, $0.events) }
    }

    /// Reads the tables of the read model in one transaction.
    /// - Returns: a closure that puts the rows into the content. The content is empty and not in use when the model calls it
    /// - Throws: the errors of the connection, `FormatError`
    func load(_ connection: LeasedConnection, logger: Logger) async throws -> @Sendable (LogCursor) -> Void {
        let estimate = try await connection.query(
            "SELECT reltuples::bigint FROM pg_class WHERE oid = to_regclass(\(EventsProjection.schema + ".events"))"
        ).decode(Int64.self)
        let rows = EventBulkLoad(estimate: Int(estimate.first ?? 0), render: render, logger: logger)
        try await rows.copy(connection)
        return { [self] cursor in
            let events = rows.fill(index, at: cursor)
            hidden.withLock { $0 = HiddenEvents(events) }
            listener?.indexLoaded(at: cursor)
        }
    }

    /// Applies the next recorded events. The content then holds the log up to `end`.
    func apply(_ events: ArraySlice<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)>, through end: LogCursor) {
        let snapshot = index.snapshot
        let changes = hidden.withLock { hidden in
            let changes = IndexChanges(events, render: render) { hidden.events[$0] ?? snapshot.event($0).map(HeldEvent.init) }
            index.apply(EventIndex.Batch(changes.events), position: end.position, mark: end.mark)
            hidden.apply(changes.events)
            return changes
        }
        listener?.indexApplied(changes.changes, through: end)
    }

    /// Replaces events by what the read model has. The content stays at its position, and the streams of changes begin again.
    func mend(_ events: [EventID: IndexChanges.Outcome]) {
        let end = hidden.withLock { hidden in
            let snapshot = index.snapshot
            index.apply(EventIndex.Batch(events, isMend: true), position: snapshot.position, mark: snapshot.mark)
            hidden.apply(events)
            return LogCursor(position: snapshot.position, mark: snapshot.mark)
        }
        listener?.indexLoaded(at: end)
    }

    /// Removes everything. The content is out of use.
    func removeAll() {
        hidden.withLock { $0 = HiddenEvents() }
        index.removeAll()
        listener?.indexClosed()
    }

    /// Whether this node takes no new events.
    var isFull: Bool { presentBytes >= limit }
}

extension InMemoryReadModel {
    /// The snapshot; `nil` while the index is not in use.
    var readable: EventIndex.Snapshot? {
        guard state.isInUse else { return nil }
        let snapshot = content.index.snapshot
        // The index may have been dropped since.
        return snapshot.position >= 0 ? snapshot : nil
    }
}

internal import EventStore
internal import Logging
internal import Postgres
internal import SpatialIndex
internal import Synchronization
internal import Users

/// The live events of a node in its index, and beside it the hidden events and the ids of each user's events.
///
/// Thread-safe: requests read the content while ``InMemoryReadModel`` changes it. The model makes one change at a time.
package final class EventsInMemory: Sendable {
    let index = EventIndex()
    let limit: Int
    /// The largest number of live events of a user; 0 for no quota.
    let quota: Int
    let render: EventRendering
    /// Whether a comparison is under way.
    let isCompared = Mutex(false)
    private let listener: (any EventChangeListener)?
    private let beside = Mutex(BesideIndex())

    /// - Parameters:
    ///   - limitBytes: the size of the content from which on this node takes no new events
    ///   - eventsPerUser: the largest number of live events of a user; 0 for no quota
    ///   - render: writes an event as the API shows it. The bytes must depend on nothing but id, owner and details, because the index
    ///     keeps them while an event is hidden
    ///   - listener: learns every change of the index
    package init(
        limitBytes: Int, eventsPerUser: Int = 0, render: @escaping EventRendering, listener: (any EventChangeListener)? = nil
    ) {
        limit = limitBytes
        quota = eventsPerUser
        self.render = render
        self.listener = listener
    }

    var count: Int { index.snapshot.count }

    /// An earlier state counts while a reader holds it.
    var bytes: Int { presentBytes + index.backlogBytes }

    private var presentBytes: Int {
        let snapshot = index.snapshot
        return snapshot.bytes + beside.withLock { $0.hidden.bytes + ($0.owned?.bytes(of: snapshot.count) ?? 0) }
    }

    /// What the node holds at one position: the index, and the hidden events, which are no part of it.
    var held: (snapshot: EventIndex.Snapshot, hidden: [EventID: HeldEvent]) {
        beside.withLock { (index.snapshot, $0.hidden.events) }
    }

    /// The number of a user's live events; `nil` while nothing is loaded.
    func count(of owner: UserID) -> Int? { beside.withLock { $0.owned?.count(of: owner) } }

    /// The ids of a user's live events before an event, newest first; `nil` while nothing is loaded.
    func page(of owner: UserID, before event: EventID?, limit: Int) -> [EventID]? {
        beside.withLock { $0.owned?.page(of: owner, before: event, limit: limit) }
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
            let loaded = rows.fill(index, at: cursor)
            beside.withLock { $0 = loaded }
            listener?.indexLoaded(at: cursor)
        }
    }

    /// Applies the next recorded events. The content then holds the log up to `end`.
    func apply(_ events: ArraySlice<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)>, through end: LogCursor) {
        let snapshot = index.snapshot
        let changes = beside.withLock { beside in
            let changes = IndexChanges(events, render: render) {
                beside.hidden.events[$0] ?? snapshot.event($0).map(HeldEvent.init)
            }
            index.apply(EventIndex.Batch(changes.events), position: end.position, mark: end.mark)
            beside.apply(changes.events, to: snapshot)
            return changes
        }
        listener?.indexApplied(changes.changes, through: end)
    }

    /// Replaces events by what the read model has. The content stays at its position, and the streams of changes begin again.
    func mend(_ events: [EventID: IndexChanges.Outcome]) {
        let end = beside.withLock { beside in
            let snapshot = index.snapshot
            index.apply(EventIndex.Batch(events, isMend: true), position: snapshot.position, mark: snapshot.mark)
            beside.apply(events, to: snapshot)
            return LogCursor(position: snapshot.position, mark: snapshot.mark)
        }
        listener?.indexLoaded(at: end)
    }

    /// Removes everything. The content is out of use.
    func removeAll() {
        beside.withLock { $0 = BesideIndex() }
        index.removeAll()
        listener?.indexClosed()
    }

    /// Whether this node takes no new events.
    var isFull: Bool { presentBytes >= limit }
}

/// What a node holds beside its index.
struct BesideIndex: Sendable {
    var hidden = HiddenEvents()
    /// The owners of the events in the index; `nil` while nothing is loaded.
    var owned: OwnedEvents?

    /// - Parameter before: the index before the change
    mutating func apply(_ events: [EventID: IndexChanges.Outcome], to before: EventIndex.Snapshot) {
        hidden.apply(events)
        owned?.apply(events, to: before)
    }
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

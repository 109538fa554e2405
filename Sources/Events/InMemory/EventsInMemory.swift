internal import EventStore
internal import Logging
internal import Postgres
internal import SpatialIndex
internal import Synchronization
internal import Users

/// The live events of a node in its index, and beside it the ids of each user's events, and the events that were cancelled lately.
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
    /// What is beside the index; `nil` while nothing is loaded.
    private let beside = Mutex<(owned: OwnedEvents, cancelled: CancelledEvents)?>(nil)

    /// - Parameters:
    ///   - limitBytes: the size of the content from which on this node takes no new events
    ///   - eventsPerUser: the largest number of live events of a user; 0 for no quota
    ///   - render: writes an event as the API shows it, by its id, owner and details alone. The index has what lists show
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
    var bytes: Int { presentBytes + index.backlogBytes + (beside.withLock { $0?.cancelled.bytes } ?? 0) }

    private var presentBytes: Int {
        let snapshot = index.snapshot
        return snapshot.bytes + (beside.withLock { $0?.owned.bytes(of: snapshot.count) } ?? 0)
    }

    /// The number of a user's live events; `nil` while nothing is loaded.
    func count(of owner: UserID) -> Int? { beside.withLock { $0?.owned.count(of: owner) } }

    /// The ids of a user's live events before an event, newest first; `nil` while nothing is loaded.
    func page(of owner: UserID, before event: EventID?, limit: Int) -> [EventID]? {
        beside.withLock { $0?.owned.page(of: owner, before: event, limit: limit) }
    }

    /// The ids of a user's newest events, live ones and those that were cancelled lately; `nil` while nothing is loaded.
    func newest(of owner: UserID, limit: Int) -> [EventID]? {
        beside.withLock { beside in
            beside.map { [$0.owned, $0.cancelled.owned].flatMap { $0.page(of: owner, before: nil, limit: limit) } }
        }
    }

    /// The live events and those that were cancelled lately, at one position; `nil` while nothing is loaded.
    var calendar: (live: EventIndex.Snapshot, cancelled: EventIndex.Snapshot)? {
        beside.withLock { $0.map { (index.snapshot, $0.cancelled.index.snapshot) } }
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
    func apply(_ events: [LogSegment.Recorded], through end: LogCursor) {
        let snapshot = index.snapshot
        let changes = IndexChanges(events, render: render) { snapshot.event($0).map(HeldEvent.init) }
        beside.withLock { beside in
            index.apply(EventIndex.Batch(changes.events), position: end.position, mark: end.mark)
            beside?.owned.apply(changes.events, to: snapshot)
            beside?.cancelled.apply(changes.events, position: end.position)
        }
        listener?.indexApplied(changes.changes, through: end)
    }

    /// Replaces events by what the read model has. The content stays at its position, and the streams of changes begin again.
    func mend(_ events: [EventID: IndexChanges.Outcome]) {
        let snapshot = index.snapshot
        beside.withLock { beside in
            index.apply(EventIndex.Batch(events, isMend: true), position: snapshot.position, mark: snapshot.mark)
            beside?.owned.apply(events, to: snapshot)
            beside?.cancelled.apply(events, position: snapshot.position)
        }
        listener?.indexLoaded(at: LogCursor(position: snapshot.position, mark: snapshot.mark))
    }

    /// Removes everything. The content is out of use.
    func removeAll() {
        beside.withLock { $0 = nil }
        index.removeAll()
        listener?.indexClosed()
    }

    /// Whether this node takes no new events.
    var isFull: Bool { presentBytes >= limit }
}

internal import EventStore
internal import Logging
internal import Postgres
internal import SpatialIndex
internal import Synchronization
internal import Users

/// The live events of a node in its index, and beside it the ids of each user's events.
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
    /// The owners of the events in the index; `nil` while nothing is loaded.
    private let owned = Mutex<OwnedEvents?>(nil)

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
    var bytes: Int { presentBytes + index.backlogBytes }

    private var presentBytes: Int {
        let snapshot = index.snapshot
        return snapshot.bytes + (owned.withLock { $0?.bytes(of: snapshot.count) } ?? 0)
    }

    /// The number of a user's live events; `nil` while nothing is loaded.
    func count(of owner: UserID) -> Int? { owned.withLock { $0?.count(of: owner) } }

    /// The ids of a user's live events before an event, newest first; `nil` while nothing is loaded.
    func page(of owner: UserID, before event: EventID?, limit: Int) -> [EventID]? {
        owned.withLock { $0?.page(of: owner, before: event, limit: limit) }
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
            owned.withLock { $0 = loaded }
            listener?.indexLoaded(at: cursor)
        }
    }

    /// Applies the next recorded events. The content then holds the log up to `end`.
    func apply(_ events: [LogSegment.Recorded], through end: LogCursor) {
        let snapshot = index.snapshot
        let changes = IndexChanges(events, render: render) { snapshot.event($0).map(HeldEvent.init) }
        owned.withLock { owned in
            index.apply(EventIndex.Batch(changes.events), position: end.position, mark: end.mark)
            owned?.apply(changes.events, to: snapshot)
        }
        listener?.indexApplied(changes.changes, through: end)
    }

    /// Replaces events by what the read model has. The content stays at its position, and the streams of changes begin again.
    func mend(_ events: [EventID: IndexChanges.Outcome]) {
        let snapshot = index.snapshot
        owned.withLock { owned in
            index.apply(EventIndex.Batch(events, isMend: true), position: snapshot.position, mark: snapshot.mark)
            owned?.apply(events, to: snapshot)
        }
        listener?.indexLoaded(at: LogCursor(position: snapshot.position, mark: snapshot.mark))
    }

    /// Removes everything. The content is out of use.
    func removeAll() {
        owned.withLock { $0 = nil }
        index.removeAll()
        listener?.indexClosed()
    }

    /// Whether this node takes no new events.
    var isFull: Bool { presentBytes >= limit }
}

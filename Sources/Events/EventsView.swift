internal import Encoding
public import EventStore
internal import Postgres
internal import SpatialIndex
internal import Synchronization
public import Users

/// Appends an event to the bytes, as the API shows it.
public typealias EventRendering = @Sendable (Event, inout [UInt8]) -> Void

/// The events as one request reads them: from the in-memory index at one position, or from PostgreSQL.
public struct EventsView: Sendable {
    /// `nil` if the view reads PostgreSQL.
    let snapshot: EventIndex.Snapshot?
    /// The time since the index was last known to have the whole log; `nil` for at most 3 seconds, and for PostgreSQL.
    public let staleFor: Duration?
    let tablesMark: UInt32
    let module: EventsModule

    /// The mark of the lists at ``end``, for their entity tag: the mark of ``end`` until the index is mended. `nil` for PostgreSQL.
    public var listMark: UInt32? { end?.mark.map { $0 ^ tablesMark } }

    /// The cursor of the log up to which the view has the events; `nil` for PostgreSQL.
    public var end: LogCursor? { snapshot.map { LogCursor(position: $0.position, mark: $0.mark) } }

    /// Returns an event; `nil` if neither the index nor PostgreSQL has it.
    /// - Parameter caller: finds the caller, on whom the rejection of a hidden event depends; `nil` if the caller is not known
    /// - Throws: ``EventRejection/cancelled``, ``EventRejection/hidden`` for the owner of a hidden event and
    ///   ``EventRejection/notFound`` for others, `PostgresError`, `FormatError`, and what `caller` throws
    public func event(_ id: EventID, for caller: () async throws -> UserID? = { nil }) async throws -> RenderedEvent? {
        if let held = indexedEvent(id) { return held }
        // The index holds live events only.
        guard let found = try await module.event(id) else { return nil }
        return module.rendered(try Optional(found).live(for: found.isHidden ? await caller() : nil))
    }

    /// Returns an event that its owner cancelled, for a client that followed a link to it; `nil` for any other event, and for a hidden one.
    /// - Throws: `PostgresError`, `FormatError`
    public func cancelledEvent(_ id: EventID) async throws -> RenderedEvent? {
        guard let found = try await module.event(id), found.isCancelled, !found.isHidden else { return nil }
        return module.rendered(found)
    }

    /// Returns an event of the index; `nil` if the index does not have it.
    public func indexedEvent(_ id: EventID) -> RenderedEvent? {
        snapshot?.event(id).map { RenderedEvent(version: $0.version, source: .index($0)) }
    }

    /// Finds the events near a point.
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`, and ``SearchesBusyError`` if the search is long
    public func nearest(_ request: NearestRequest) async throws -> RenderedEvents {
        if let snapshot { return RenderedEvents(try await module.longSearches.finish(snapshot.search(request))) }
        let page = try await module.nearest(request)
        let (json, ends) = module.rendered(page.events)
        return RenderedEvents(source: .rendered(json: json, ends: ends, next: page.next))
    }

    /// Finds the events in a box.
    /// - Throws: what ``nearest(_:)`` throws
    public func events(in request: BoxRequest) async throws -> RenderedEvents {
        if let snapshot { return RenderedEvents(try await module.longSearches.finish(snapshot.search(request))) }
        let page = try request.page(await module.database.query(request.query))
        let (json, ends) = module.rendered(page.events)
        return RenderedEvents(source: .rendered(json: json, ends: ends, next: page.next))
    }

    /// Counts the events in each cell of a map's view: the cells with events, from south to north, and then from west to east.
    /// - Throws: what ``nearest(_:)`` throws
    public func clusters(_ request: ClusterRequest) async throws -> [EventCluster] {
        if let snapshot { return try await module.longSearches.finish(EventClusterSearch(request, snapshot)) }
        return try request.clusters(await module.database.query(request.query))
    }
}

/// Short searches of the index, for an event loop. Each returns `nil` if the view reads PostgreSQL, or if the search takes more than
/// one part of ``LongSearches/visitsOfPart`` visits.
extension EventsView {
    public func indexedNearest(_ request: NearestRequest) -> RenderedEvents? {
        snapshot?.search(request).firstPart().map(RenderedEvents.init)
    }

    public func indexedEvents(in request: BoxRequest) -> RenderedEvents? {
        snapshot?.search(request).firstPart().map(RenderedEvents.init)
    }

    public func indexedClusters(_ request: ClusterRequest) -> [EventCluster]? {
        snapshot.flatMap { EventClusterSearch(request, $0).firstPart() }
    }
}

/// An event as JSON bytes.
public struct RenderedEvent: Sendable {
    enum Source: Sendable {
        case index(EventIndex.Entry)
        case rendered([UInt8])
    }

    public let version: Int32
    let source: Source

    /// The version with the mark of its content.
    public var markedVersion: EventVersion { EventVersion(number: version, mark: withJSON(EventVersion.mark)) }

    /// Whether the event comes from the index. An event from PostgreSQL may be newer than the view's position.
    public var isFromIndex: Bool { if case .index = source { true } else { false } }

    /// Calls `body` with the bytes, which are valid until `body` returns.
    public func withJSON<Value>(_ body: (RawSpan) throws -> Value) rethrows -> Value {
        switch source {
        case .index(let entry): try entry.withPayload(body)
        case .rendered(let json): try json.withRawSpan(body)
        }
    }
}

/// The events of a response, in its order, as JSON bytes.
public struct RenderedEvents: Sendable {
    enum Source: Sendable {
        case index(EventIndex.Page)
        case rendered(json: [UInt8], ends: [Int], next: NearestRequest.Cursor?)
    }

    let source: Source

    fileprivate init(source: Source) { self.source = source }

    fileprivate init(_ page: EventIndex.Page) { source = .index(page) }

    public var count: Int {
        switch source {
        case .index(let page): page.count
        case .rendered(_, let ends, _): ends.count
        }
    }

    /// The length of all events together.
    public var jsonBytes: Int {
        switch source {
        case .index(let page): page.payloadBytes
        case .rendered(let json, _, _): json.count
        }
    }

    /// The cursor of the next page; `nil` at the end.
    public var next: NearestRequest.Cursor? {
        switch source {
        case .index(let page): page.cursor
        case .rendered(_, _, let next): next
        }
    }

    /// The last event of a page in the order of ids, if there is a next page.
    public var nextID: EventID? {
        switch source {
        case .index(let page): page.nextID.map(EventID.init(rawValue:))
        case .rendered(_, _, let next): next?.id
        }
    }

    /// Calls `body` with the bytes of each event in turn, which are valid until `body` returns.
    public func forEachJSON(_ body: (RawSpan) throws -> Void) rethrows {
        switch source {
        case .index(let page): try page.forEachPayload(body)
        case .rendered(let json, let ends, _):
            var start = 0
            for end in ends {
                try json.withRawSpan(of: start..<end, body)
                start = end
            }
        }
    }
}

/// The log has not reached the position that a reader asks for, or the index did not reach it in time.
public struct PositionNotReachedError: Error, Hashable, CustomStringConvertible {
    public var position: Int64

    public init(position: Int64) { self.position = position }

    public var description: String { "position \(position) is not reached yet" }
}

extension EventsModule {
    /// Returns a view of the events.
    /// - Parameter position: the position of a write that the view must contain; the index gets a short time to reach it
    /// - Throws: ``PositionNotReachedError``
    public func view(atLeast position: Int64? = nil) async throws -> EventsView {
        if let view = indexView(atLeast: position) {
            countIndexRead()
            return view
        }
        if let position { try await untilLogHas(position) }
        if let position, let index, await index.reaches(position), let view = indexView(atLeast: position) {
            countIndexRead()
            return view
        }
        databaseReads.add(1, ordering: .relaxed)
        if let position, try await ReadModelState.of(EventsProjection.self, database).position < position {
            throw PositionNotReachedError(position: position)
        }
        return EventsView(snapshot: nil, staleFor: nil, tablesMark: 0, module: self)
    }

    /// Maximum number of positions behind the end of the log for which a reader waits.
    private static let awaitedPositions: Int64 = 16
    /// Maximum number of readers that wait for the log. Each counts as in flight, and a client may name any position.
    private static let awaitingReaders = 16

    /// Waits at most a second for a position that the log may reach next.
    /// - Throws: ``PositionNotReachedError``, at once for a position far beyond the log, `PostgresError`
    private func untilLogHas(_ position: Int64) async throws {
        let missing = position - (try await LogReader(client: database).tail())
        guard missing > 0 else { return }
        defer { readersOfNextPosition.subtract(1, ordering: .relaxed) }
        guard readersOfNextPosition.add(1, ordering: .relaxed).newValue <= Self.awaitingReaders,
            missing <= Self.awaitedPositions, await index?.reaches(position) == true
        else { throw PositionNotReachedError(position: position) }
    }

    /// Returns a view of the index without a wait; `nil` if the index is not in use or has not reached the position. The caller counts
    /// its reads with ``countIndexRead()``.
    public func indexView(atLeast position: Int64? = nil) -> EventsView? {
        guard let index else { return nil }
        // Before the snapshot: a mend changes the snapshot first, so that no list from before it has the mark from after it.
        let tablesMark = index.state.tablesMark
        guard let snapshot = index.readable, position.map({ $0 <= snapshot.position }) ?? true else { return nil }
        return EventsView(snapshot: snapshot, staleFor: index.state.staleFor, tablesMark: tablesMark, module: self)
    }

    public func countIndexRead() { indexReads.add(1, ordering: .relaxed) }

    /// An event as the API shows it.
    func rendered(_ event: Event) -> RenderedEvent {
        var json: [UInt8] = []
        render(event, &json)
        return RenderedEvent(version: event.version, source: .rendered(json))
    }

    /// - Returns: the bytes of all events, and the end of each
    fileprivate func rendered(_ events: [Event]) -> (json: [UInt8], ends: [Int]) {
        var json: [UInt8] = []
        let ends = events.map { event in
            render(event, &json)
            return json.count
        }
        return (json, ends)
    }
}

internal import Encoding
public import EventStore
internal import Postgres
internal import SpatialIndex
internal import Synchronization
public import Users

/// Appends an event to the bytes, as the API shows it.
public typealias EventRendering = @Sendable (Event, inout [UInt8]) -> Void

/// The live events as one request reads them: a snapshot of the index.
public struct EventsView: Sendable {
    let snapshot: EventIndex.Snapshot
    /// The time since the index was last known to have the whole log; `nil` for at most 3 seconds.
    public let staleFor: Duration?
    let tablesMark: UInt32
    let longSearches: LongSearches

    /// The cursor of the log up to which the view has the events.
    public var end: LogCursor { LogCursor(position: snapshot.position, mark: snapshot.mark) }

    /// The mark of the lists at ``end``, for their entity tag: the mark of ``end`` until the index is mended or loaded again.
    public var listMark: UInt32? { end.mark.map { $0 ^ tablesMark } }

    /// Returns an event; `nil` if it is not live, or newer than the view.
    public func event(_ id: EventID) -> RenderedEvent? { snapshot.event(id).map { RenderedEvent(entry: $0) } }

    /// Finds what a request asks for.
    /// - Throws: `CancellationError`, and ``SearchesBusyError`` if the search is long
    public func find<Request: EventRequest>(_ request: Request) async throws -> Request.Found {
        request.found(try await longSearches.finish(request.search(snapshot)))
    }

    /// The same on an event loop.
    /// - Returns: `nil` if the search takes more than one part of ``LongSearches/visitsOfPart`` visits
    public func findImmediately<Request: EventRequest>(_ request: Request) -> Request.Found? {
        request.search(snapshot).firstPart().map { request.found($0) }
    }
}

/// An event of the index as JSON bytes.
public struct RenderedEvent: Sendable {
    let entry: EventIndex.Entry
    /// The JSON with all texts, if it was read from the read model.
    var whole: [UInt8]?

    public var version: Int32 { entry.version }

    /// Whether the JSON has all texts of the event.
    public var isWhole: Bool { whole != nil || entry.eventNote.mark == 0 }

    /// The version with the mark of its content, all texts included.
    public var markedVersion: EventVersion {
        EventVersion(number: version, mark: isWhole ? withJSON(EventVersion.mark) : entry.eventNote.mark)
    }

    /// Calls `body` with the bytes, which are valid until `body` returns: those of the whole event if they were read, and otherwise
    /// those of lists.
    public func withJSON<Value>(_ body: (RawSpan) throws -> Value) rethrows -> Value {
        if let whole { return try whole.withRawSpan(body) }
        return try entry.withPayload(body)
    }
}

/// The events of a response, in its order, as JSON bytes.
public struct RenderedEvents: Sendable {
    let page: EventIndex.Page

    public var count: Int { page.count }

    /// The length of all events together.
    public var jsonBytes: Int { page.payloadBytes }

    /// The cursor of the next page; `nil` at the end.
    public var next: NearestRequest.Cursor? { page.cursor }

    /// The last event of a page in the order of ids, if there is a next page.
    public var nextID: EventID? { page.nextID.map(EventID.init(rawValue:)) }

    /// Calls `body` with the bytes of each event in turn, which are valid until `body` returns.
    public func forEachJSON(_ body: (RawSpan) throws -> Void) rethrows { try page.forEachPayload(body) }
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
    /// - Throws: ``IndexNotInUseError``, ``PositionNotReachedError``, `PostgresError`
    public func view(atLeast position: Int64? = nil) async throws -> EventsView {
        guard let index, let present = indexView() else { throw IndexNotInUseError() }
        guard let position, present.end.position < position else {
            countRead()
            return present
        }
        try await untilLogHas(position, index)
        return try await view(reaching: position, index)
    }

    /// Waits at most a second until the index has reached a position of the log.
    private func view(reaching position: Int64, _ index: InMemoryReadModel) async throws -> EventsView {
        index.notifier.wake(at: position)
        let isReached = await index.reaches(position)
        guard let view = indexView() else { throw IndexNotInUseError() }
        guard isReached else { throw PositionNotReachedError(position: position) }
        countRead()
        return view
    }

    /// Returns a live event with the view that has it.
    /// - Parameters:
    ///   - position: as for ``view(atLeast:)``
    ///   - caller: finds the caller, on whom the rejection of a hidden event depends; `nil` if the caller is not known
    ///   - isWanted: whether the JSON of this version is needed with all texts. The index has them of most events, the read model of all
    /// - Throws: ``EventRejection/cancelled``, ``EventRejection/hidden`` for the owner of a hidden event and
    ///   ``EventRejection/notFound`` for others, `FormatError`, what ``view(atLeast:)`` throws, and what the closures throw
    public func readEvent(
        _ id: EventID, atLeast position: Int64? = nil, for caller: () async throws -> UserID? = { nil },
        whole isWanted: (EventVersion) throws -> Bool = { _ in false }
    ) async throws -> (event: RenderedEvent, view: EventsView) {
        let view = try await view(atLeast: position)
        if let event = view.event(id) {
            if try event.isWhole || !isWanted(event.markedVersion) { return (event, view) }
            let row = try await rowsByID.value(of: id)
            if let row, row.version == event.version { return (RenderedEvent(entry: event.entry, whole: json(of: row)), view) }
        }
        // In a pipeline the tail is not before the row.
        let rows = try await database.run([Self.query(of: id), "SELECT log.tail()"])
        let found = try Self.event(in: rows[0])
        let row = try found.live(for: found?.isHidden == true ? await caller() : nil)
        // A live row is newer than the view, or the read model is behind the log.
        guard let index else { throw IndexNotInUseError() }
        let tail = try rows[1].decode(Int64.self)[0]
        let newer = try await self.view(reaching: tail, index)
        guard let event = newer.event(id) else { throw PositionNotReachedError(position: tail) }
        if try event.isWhole || !isWanted(event.markedVersion) { return (event, newer) }
        // Another change may be newer than the row. A read model without it is behind the log.
        let present = try await row.version == event.version ? row : rowsByID.value(of: id)
        guard let present, present.version == event.version else { throw PositionNotReachedError(position: tail) }
        return (RenderedEvent(entry: event.entry, whole: json(of: present)), newer)
    }

    /// Returns an event that its owner cancelled as JSON, for a client that followed a link to it; `nil` for any other event, and for a
    /// hidden one.
    /// - Throws: `PostgresError`, `FormatError`
    public func cancelledEvent(_ id: EventID) async throws -> [UInt8]? {
        guard let found = try await event(id), found.isCancelled, !found.isHidden else { return nil }
        return json(of: found)
    }

    /// Maximum number of positions behind the end of the log for which a reader waits.
    private static let awaitedPositions: Int64 = 16
    /// Maximum number of readers that wait for the log. Each counts as in flight, and a client may name any position.
    private static let awaitingReaders = 16

    /// Waits at most a second for a position that the log may reach next.
    /// - Throws: ``PositionNotReachedError``, at once for a position far beyond the log, `PostgresError`
    private func untilLogHas(_ position: Int64, _ index: InMemoryReadModel) async throws {
        let missing = position - (try await LogReader(client: database).tail())
        guard missing > 0 else { return }
        defer { readersOfNextPosition.subtract(1, ordering: .relaxed) }
        guard readersOfNextPosition.add(1, ordering: .relaxed).newValue <= Self.awaitingReaders,
            missing <= Self.awaitedPositions, await index.reaches(position)
        else { throw PositionNotReachedError(position: position) }
    }

    /// Returns a view of the index without a wait; `nil` if the index is not in use or has not reached the position. The caller counts
    /// its reads with ``countRead()``.
    public func indexView(atLeast position: Int64 = 0) -> EventsView? {
        guard let index else { return nil }
        // Before the snapshot: a mend changes the snapshot first, so that no list from before it has the mark from after it.
        let tablesMark = index.state.tablesMark
        guard let snapshot = index.readable, position <= snapshot.position else { return nil }
        return EventsView(
            snapshot: snapshot, staleFor: index.state.staleFor, tablesMark: tablesMark, longSearches: longSearches)
    }

    public func countRead() { reads.add(1, ordering: .relaxed) }

    /// An event as the API shows it.
    func json(of event: Event) -> [UInt8] {
        var json: [UInt8] = []
        render(event, &json)
        return json
    }
}

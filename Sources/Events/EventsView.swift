internal import EventStore
internal import Postgres
internal import SpatialIndex

/// Writes an event as the API shows it behind the bytes that are there.
public typealias EventRendering = @Sendable (Event, inout [UInt8]) -> Void

/// The events as one request reads them: at one position, from the node's memory; or from PostgreSQL.
public struct EventsView: Sendable {
    /// nil where PostgreSQL is read.
    let snapshot: EventIndex.Snapshot?
    /// How long ago this was known to be all that is recorded; nil while that is no news, and for PostgreSQL.
    public let staleFor: Duration?
    let module: EventsModule

    /// What is read is what the log says up to there; nil where PostgreSQL is read.
    public var position: Int64? { snapshot?.position }

    /// An id that the index does not know is asked for in PostgreSQL before it is called unknown.
    public func event(_ id: EventID) async throws -> RenderedEvent? {
        if let held = indexedEvent(id) { return held }
        return try await module.event(id).map { event in
            RenderedEvent(version: event.version, source: .rendered(module.rendered([event]).json))
        }
    }

    /// nil where the index does not know it.
    public func indexedEvent(_ id: EventID) -> RenderedEvent? {
        snapshot?.event(id).map { RenderedEvent(version: $0.version, source: .index($0)) }
    }

    public func nearest(_ search: NearbySearch) async throws -> RenderedEvents {
        if let held = indexedNearest(search) { return held }
        let page = try await module.nearest(search)
        let (json, ends) = module.rendered(page.events)
        return RenderedEvents(source: .rendered(json: json, ends: ends, next: page.next))
    }

    /// nil where PostgreSQL is read.
    public func indexedNearest(_ search: NearbySearch) -> RenderedEvents? {
        snapshot.map { RenderedEvents(source: .index($0.nearest(search))) }
    }
}

/// An event as bytes ready to go.
public struct RenderedEvent: Sendable {
    enum Source: Sendable {
        case index(EventIndex.Entry)
        case rendered([UInt8])
    }

    public let version: Int32
    let source: Source

    /// Otherwise it was found in PostgreSQL, and may be newer than the reading's position.
    public var isFromIndex: Bool {
        switch source {
        case .index: true
        case .rendered: false
        }
    }

    /// Gives the bytes, which are valid until the end of `body` only.
    public func withJSON<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
        switch source {
        case .index(let entry): try entry.withPayload(body)
        case .rendered(let json): try json.withUnsafeBytes(body)
        }
    }
}

/// The events of an answer, in its order, as bytes ready to go.
public struct RenderedEvents: Sendable {
    enum Source: Sendable {
        case index(EventIndex.Page)
        case rendered(json: [UInt8], ends: [Int], next: NearbySearch.Cursor?)
    }

    let source: Source

    public var count: Int {
        switch source {
        case .index(let page): page.count
        case .rendered(_, let ends, _): ends.count
        }
    }

    /// Of all of them.
    public var jsonBytes: Int {
        switch source {
        case .index(let page): page.payloadBytes
        case .rendered(let json, _, _): json.count
        }
    }

    /// Where to go on; nil at the end.
    public var next: NearbySearch.Cursor? {
        switch source {
        case .index(let page): page.cursor
        case .rendered(_, _, let next): next
        }
    }

    /// Gives the bytes of each in turn, which are valid until the end of `body` only.
    public func forEachJSON(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
        switch source {
        case .index(let page): try page.forEachPayload(body)
        case .rendered(let json, let ends, _):
            try json.withUnsafeBytes { bytes in
                var start = 0
                for end in ends {
                    try body(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
                    start = end
                }
            }
        }
    }
}

/// The position that a reader asks for was not reached in time, or is none that the log has.
public struct PositionNotReachedError: Error, Hashable, CustomStringConvertible {
    public var position: Int64
    public var description: String { "position \(position) is not reached yet" }
}

extension EventsModule {
    static let staleAfter = Duration.seconds(3)

    /// The events as they can be read now.
    /// - Parameter position: of a write that is to show; the reading waits a little for it
    /// - Throws: ``PositionNotReachedError``
    public func view(atLeast position: Int64? = nil) async throws -> EventsView {
        if let reading = indexView(atLeast: position) {
            countIndexRead()
            return reading
        }
        // What the log has not is not waited for.
        if let position, try await LogReader(client: database).tail() < position {
            throw PositionNotReachedError(position: position)
        }
        if let position, let index, await index.reaches(position), let reading = indexView(atLeast: position) {
            countIndexRead()
            return reading
        }
        reads.readDatabase()
        if let position, try await ReadModelState.of(EventsProjection.self, database).position < position {
            throw PositionNotReachedError(position: position)
        }
        return EventsView(snapshot: nil, staleFor: nil, module: self)
    }

    /// The same where nothing has to be waited for; nil where it has. It is counted when something was read:
    /// ``countIndexRead()``.
    public func indexView(atLeast position: Int64? = nil) -> EventsView? {
        guard let index, let snapshot = index.readable, position.map({ $0 <= snapshot.position }) ?? true else { return nil }
        let age = index.standing.age
        return EventsView(snapshot: snapshot, staleFor: age > Self.staleAfter ? age : nil, module: self)
    }

    public func countIndexRead() { reads.readIndex() }

    /// - Returns: all of them on end, and where each ends
    fileprivate func rendered(_ events: [Event]) -> (json: [UInt8], ends: [Int]) {
        var json: [UInt8] = []
        let ends = events.map { event in
            render(event, &json)
            return json.count
        }
        return (json, ends)
    }
}

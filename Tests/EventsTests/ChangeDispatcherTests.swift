import Encoding
public import EventStore
import Foundation
import SpatialIndex
import Synchronization
import TestChance
import Testing
import Users

@testable import Events

extension LogCursor: ExpressibleByIntegerLiteral {
    /// Without a mark, so that the text is the position.
    public init(integerLiteral position: Int64) { self.init(position: position) }
}

/// Keeps the lines of a stream.
final class LineSink: Sendable {
    private let state = Mutex<(text: String, hasEnded: Bool)>(("", false))

    func take(_ lines: [UInt8]?) {
        state.withLock { state in
            if let lines { state.text += String(decoding: lines, as: UTF8.self) } else { state.hasEnded = true }
        }
    }

    var text: String { state.withLock { $0.text } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// The blocks after the first one.
    var blocks: [String] { text.components(separatedBy: "\n\n").dropFirst().filter { !$0.isEmpty } }
}

/// The events that lists show now.
final class ShownEvents: Sendable {
    private let events = Mutex<[EventID: HeldEvent]>([:])

    func apply(_ change: EventChange) {
        events.withLock { events in
            events[change.id] = change.after.map { place in
                HeldEvent(owner: UserID(rawValue: 1), version: 1, place: place, json: change.json, words: change.words)
            }
        }
    }

    subscript(id: EventID) -> HeldEvent? { events.withLock { $0[id] } }
    var all: [EventID: HeldEvent] { events.withLock { $0 } }
}

extension ChangeSearch {
    /// The box from -10 to 10 in both directions.
    static let square = ChangeSearch(area: .box(DegreeBox(south: -10, west: -10, north: 10, east: 10)))

    /// ``square``, for events with these words; `nil` for any.
    static func inSquare(_ words: String?) throws -> ChangeSearch {
        var search = square
        if let words { try search.filter.require(words) }
        return search
    }
}

@Suite struct `Dispatching changes` {
    static let inside = place(1, 2)
    static let outside = place(50, 2)

    static func place(_ lat: Double, _ lon: Double) -> EventPlace {
        EventPlace(coordinates: Coordinates(lat: lat, lon: lon), startedAt: .startOfPicnic, endsAt: .endOfPicnic)
    }

    static func change(
        _ position: Int64, _ id: Int64 = 7, from before: EventPlace? = nil, to after: EventPlace? = nil, words: String = ""
    ) -> EventChange {
        let json = after == nil ? [] : Array(#"{"id":\#(id),"at":\#(position)}"#.utf8)
        return EventChange(
            cursor: LogCursor(position: position), id: EventID(rawValue: id), before: before, after: after, json: json,
            words: after == nil ? [] : Array(words.utf8))
    }

    static func applied(_ changes: EventChange..., through: Int64? = nil) -> ChangeDispatcher.Item {
        .applied(changes, through: LogCursor(position: through ?? changes.last?.position ?? 0))
    }

    static func join(
        _ number: Int = 1, _ search: ChangeSearch = .square, after: Int64?, _ sink: LineSink,
        _ shown: ShownEvents = ShownEvents()
    ) -> ChangeDispatcher.Item {
        .join(ChangeSubscription(number, search, after: after.map { LogCursor(position: $0) }, sink: sink.take) { shown[$0] })
    }

    static func dispatch(_ items: ChangeDispatcher.Item...) -> ChangeDispatcher {
        items.reduce(into: ChangeDispatcher()) { $0.handle($1) }
    }

    @Test func `the lines of a stream are these bytes`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(at: 40_326), Self.join(after: 40_326, sink))
        dispatcher.handle(Self.applied(Self.change(40_327, to: Self.inside)))
        dispatcher.handle(Self.applied(Self.change(40_330, from: Self.inside), through: 40_331))
        for _ in 0..<ChangeDispatcher.slots { dispatcher.handle(.tick) }
        dispatcher.handle(.closed)
        #expect(
            sink.text == """
                retry: 2000
                id: 40326

                id: 40327
                event: put
                data: {"id":7,"at":40327}

                id: 40330
                event: gone
                data: {"id":7}

                id: 40331

                event: reset
                data: {}


                """)
        #expect(sink.hasEnded)
    }

    @Test func `a stream gets a put for an event that it shows, and gone for one that it shows no longer`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(at: 0), Self.join(after: 0, sink))
        let changes = [
            Self.change(1, to: Self.outside), Self.change(2, from: Self.outside, to: Self.inside),
            Self.change(3, from: Self.inside, to: Self.place(2, 2)), Self.change(4, from: Self.place(2, 2), to: Self.outside),
            Self.change(5, from: Self.outside, to: Self.outside), Self.change(6, from: Self.outside),
        ]
        for change in changes { dispatcher.handle(Self.applied(change)) }
        #expect(
            sink.blocks.map { $0.prefix(while: { $0 != "{" }) } == [
                "id: 2\nevent: put\ndata: ", "id: 3\nevent: put\ndata: ", "id: 4\nevent: gone\ndata: ",
            ])
        #expect(dispatcher.sent == 3)
    }

    @Test func `a client from before the ring, from another log or from a loading node gets a reset`() {
        var dispatcher = Self.dispatch(.loaded(at: 100))
        let (early, foreign, present) = (LineSink(), LineSink(), LineSink())
        for (number, (sink, after)) in [(early, Int64(99)), (foreign, nil), (present, 100)].enumerated() {
            dispatcher.handle(Self.join(number, after: after, sink))
        }
        for sink in [early, foreign] {
            #expect(sink.text == "event: reset\ndata: {}\n\n")
            #expect(sink.hasEnded)
        }
        #expect(!present.hasEnded && dispatcher.resets == 2)
        let loading = LineSink()
        var empty = Self.dispatch(Self.join(after: 0, loading))
        #expect(loading.hasEnded && loading.text.hasPrefix("event: reset\n"))
        empty.handle(Self.applied(Self.change(1, to: Self.inside)))
        #expect(empty.ring == nil && empty.subscriptions.count == 0)
    }

    @Test func `a client that is ahead of the node waits with heartbeats without an id`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(at: 10), Self.join(after: 12, sink))
        for _ in 0..<ChangeDispatcher.slots { dispatcher.handle(.tick) }
        dispatcher.handle(Self.applied(Self.change(12, to: Self.inside)))
        #expect(sink.blocks == [":"])
        dispatcher.handle(Self.applied(Self.change(13, to: Self.inside)))
        for _ in 0..<ChangeDispatcher.slots { dispatcher.handle(.tick) }
        #expect(sink.blocks.dropFirst().map { $0.prefix(6) } == ["id: 13", "id: 13"])
    }

    @Test func `heartbeats are spread over the streams`() {
        let sinks = (0..<30).map { _ in LineSink() }
        var dispatcher = Self.dispatch(.loaded(at: 1))
        for (number, sink) in sinks.enumerated() { dispatcher.handle(Self.join(number, after: 1, sink)) }
        for tick in 1...ChangeDispatcher.slots {
            dispatcher.handle(.tick)
            #expect(sinks.count { $0.blocks == ["id: 1"] } == 2 * tick)
        }
    }

    @Test func `a stream that left gets nothing more`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(at: 0), Self.join(after: 0, sink), .leave(number: 1))
        dispatcher.handle(Self.applied(Self.change(1, to: Self.inside)))
        dispatcher.handle(.closed)
        #expect(sink.blocks.isEmpty && !sink.hasEnded)
    }

    @Test func `a stream that ends for a drain gets the changes so far and its last position`() {
        let (near, ahead, other) = (LineSink(), LineSink(), LineSink())
        var dispatcher = Self.dispatch(.loaded(at: 10), Self.join(1, after: 10, near))
        dispatcher.handle(Self.join(2, after: 90, ahead))
        dispatcher.handle(Self.join(3, after: 10, other))
        dispatcher.handle(Self.applied(Self.change(11, to: Self.outside), through: 12))
        for number in 1...2 { dispatcher.handle(.end(number: number)) }
        #expect(near.blocks == ["id: 12"] && near.hasEnded)
        #expect(ahead.blocks == [] && ahead.hasEnded)
        #expect(!other.hasEnded && dispatcher.subscriptions.count == 1)
        dispatcher.endAll()
        #expect(other.blocks == ["id: 12"] && other.hasEnded)
    }
}

import Encoding
import Foundation
import SpatialIndex
import Synchronization
import TestChance
import Testing

@testable import Events

/// Keeps the lines of a stream.
final class LineSink: ChangeSink {
    private let state = Mutex<(text: String, hasEnded: Bool)>(("", false))

    func send(_ lines: [UInt8]) { state.withLock { $0.text += String(decoding: lines, as: UTF8.self) } }
    func end() { state.withLock { $0.hasEnded = true } }

    var text: String { state.withLock { $0.text } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    /// The blocks after the first one.
    var blocks: [String] { text.components(separatedBy: "\n\n").dropFirst().filter { !$0.isEmpty } }
}

extension ChangeSearch {
    /// The box from -10 to 10 in both directions.
    static let square = ChangeSearch(area: .box(DegreeBox(south: -10, west: -10, north: 10, east: 10)))
}

@Suite struct `Dispatching changes` {
    private static let inside = place(1, 2)
    private static let outside = place(50, 2)

    private static func place(_ lat: Double, _ lon: Double) -> EventPlace {
        EventPlace(coordinates: Coordinates(lat: lat, lon: lon), startedAt: .startOfPicnic, endsAt: .endOfPicnic)
    }

    private static func change(
        _ position: Int64, _ id: Int64 = 7, from before: EventPlace? = nil, to after: EventPlace? = nil
    ) -> EventChange {
        let json = after == nil ? [] : Array(#"{"id":\#(id),"at":\#(position)}"#.utf8)
        return EventChange(position: position, id: EventID(rawValue: id), before: before, after: after, json: json)
    }

    private static func applied(_ changes: EventChange..., through: Int64? = nil) -> ChangeDispatcher.Item {
        .applied(changes, through: through ?? changes.last?.position ?? 0)
    }

    private static func join(
        _ number: Int = 1, _ search: ChangeSearch = .square, after: Int64?, _ sink: LineSink
    ) -> ChangeDispatcher.Item {
        .join(ChangeSubscription(number, search, after: after, sink: sink))
    }

    private static func dispatch(_ items: ChangeDispatcher.Item...) -> ChangeDispatcher {
        items.reduce(into: ChangeDispatcher()) { $0.handle($1) }
    }

    @Test func `the lines of a stream are these bytes`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(position: 40_326), Self.join(after: 40_326, sink))
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
                data: {"position":40331}


                """)
        #expect(sink.hasEnded)
    }

    @Test func `a stream gets a put for an event that it shows, and gone for one that it shows no longer`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(position: 0), Self.join(after: 0, sink))
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

    @Test func `a stream that joins later gets the same lines from the ring`() {
        var generator = SeededGenerator(seed: 3)
        var places: [Int64: EventPlace] = [:]
        let live = LineSink()
        var dispatcher = Self.dispatch(.loaded(position: 10), Self.join(0, after: 10, live))
        var late: [(sink: LineSink, after: Int64)] = []
        for position in Int64(11)...500 {
            if position % 20 == 0 {
                let after = Int64.random(in: 10...position + 5, using: &generator)
                let sink = LineSink()
                late.append((sink, after))
                dispatcher.handle(Self.join(Int(position), after: after, sink))
            }
            let id = Int64.random(in: 1...20, using: &generator)
            let after = Bool.random(using: &generator) ? Self.place(Double.random(in: -20...20, using: &generator), 0) : nil
            dispatcher.handle(Self.applied(Self.change(position, id, from: places[id], to: after)))
            places[id] = after
        }
        #expect(live.blocks.count > 100)
        for (sink, after) in late {
            let expected = live.blocks.filter { Int64($0.dropFirst(4).prefix(while: \.isNumber)) ?? 0 > after }
            #expect(sink.blocks == expected, "after \(after)")
            #expect(sink.text.hasPrefix("retry: 2000\nid: \(after)\n\n"))
        }
    }

    @Test func `a client from before the ring, from another log or from a loading node gets a reset`() {
        var dispatcher = Self.dispatch(.loaded(position: 100))
        let (early, foreign, present) = (LineSink(), LineSink(), LineSink())
        for (number, (sink, after)) in [(early, Int64(99)), (foreign, nil), (present, 100)].enumerated() {
            dispatcher.handle(Self.join(number, after: after, sink))
        }
        for sink in [early, foreign] {
            #expect(sink.text == "event: reset\ndata: {\"position\":100}\n\n")
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
        var dispatcher = Self.dispatch(.loaded(position: 10), Self.join(after: 12, sink))
        for _ in 0..<ChangeDispatcher.slots { dispatcher.handle(.tick) }
        dispatcher.handle(Self.applied(Self.change(12, to: Self.inside)))
        #expect(sink.blocks == [":"])
        dispatcher.handle(Self.applied(Self.change(13, to: Self.inside)))
        for _ in 0..<ChangeDispatcher.slots { dispatcher.handle(.tick) }
        #expect(sink.blocks.dropFirst().map { $0.prefix(6) } == ["id: 13", "id: 13"])
    }

    @Test func `heartbeats are spread over the streams`() {
        let sinks = (0..<30).map { _ in LineSink() }
        var dispatcher = Self.dispatch(.loaded(position: 1))
        for (number, sink) in sinks.enumerated() { dispatcher.handle(Self.join(number, after: 1, sink)) }
        for tick in 1...ChangeDispatcher.slots {
            dispatcher.handle(.tick)
            #expect(sinks.count { $0.blocks == ["id: 1"] } == 2 * tick)
        }
    }

    @Test func `a stream that left gets nothing more`() {
        let sink = LineSink()
        var dispatcher = Self.dispatch(.loaded(position: 0), Self.join(after: 0, sink), .leave(number: 1))
        dispatcher.handle(Self.applied(Self.change(1, to: Self.inside)))
        dispatcher.handle(.closed)
        #expect(sink.blocks.isEmpty && !sink.hasEnded)
    }

    @Test func `a client that lacks more than the limit of a replay gets a reset`() {
        let (all, some) = (LineSink(), LineSink())
        var dispatcher = Self.dispatch(.loaded(position: 0))
        let json = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000)
        for position in 1...Int64(ChangeDispatcher.replayLimitBytes / 1_000) {
            let change = EventChange(
                position: position, id: EventID(rawValue: 1), before: nil, after: Self.inside, json: json)
            dispatcher.handle(Self.applied(change))
        }
        dispatcher.handle(Self.join(after: 0, all))
        dispatcher.handle(Self.join(after: 100, some))
        #expect(all.hasEnded && all.text.hasPrefix("event: reset\n"))
        #expect(!some.hasEnded && some.blocks.count > 100)
    }

    @Test func `the ring forgets the oldest changes at its limits of number and bytes`() {
        for (limit, limitBytes) in [(10, 1_000_000), (1_000, 3_000)] {
            var ring = ChangeRing(at: 0, limit: limit, limitBytes: limitBytes)
            for position in Int64(1)...100 { ring.append(Self.change(position * 2, to: Self.inside)) }
            ring.reached(205)
            #expect((5...10).contains(ring.count) && ring.through == 205)
            #expect(ring.floor == 200 - Int64(ring.count) * 2)
            #expect(ring.changes(after: ring.floor - 1) == nil)
            #expect(ring.changes(after: ring.floor)?.count == ring.count)
            #expect(ring.changes(after: 199)?.map(\.position) == [200])
            #expect(ring.changes(after: 205)?.isEmpty == true)
        }
    }
}

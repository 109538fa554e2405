import Encoding
import EventStore
import SpatialIndex
import TestChance
import Testing

@testable import Events

@Suite struct `Continuing from the ring of changes` {
    private typealias Make = `Dispatching changes`

    @Test(arguments: 1...20 as ClosedRange<UInt64>, [nil, "che"])
    func `a client that loses its connections at any line has the list at the end`(seed: UInt64, words: String?) throws {
        var generator = SeededGenerator(seed: seed)
        let search = try ChangeSearch.inSquare(words)
        var places: [EventID: EventPlace] = [:]
        let shown = ShownEvents()
        var (dispatcher, client) = (Make.dispatch(.loaded(at: 10)), ChangeClient(10))
        var (sink, number) = (LineSink(), 0)
        for position in Int64(11)...1_000 {
            if Int.random(in: 0..<10, using: &generator) == 0 {
                // The client may have read none, some or all of the lines.
                client.take(sink, lines: Int.random(in: 0...sink.blocks.count, using: &generator))
                dispatcher.handle(.leave(number: number))
                (sink, number) = (LineSink(), number + 1)
                if Bool.random(using: &generator) {
                    dispatcher.handle(Make.join(number, search, after: client.position, sink, shown))
                }
            }
            let id = EventID(rawValue: .random(in: 1...9, using: &generator))
            let after =
                Int.random(in: 0..<3, using: &generator) == 0
                ? nil : Make.place(Double.random(in: -20...20, using: &generator), 0)
            let change = Make.change(
                position, id.rawValue, from: places[id], to: after,
                words: [" chess", " dance"].randomElement(using: &generator) ?? "")
            places[id] = after
            shown.apply(change)
            dispatcher.handle(Make.applied(change))
        }
        sink = LineSink()
        dispatcher.handle(Make.join(0, search, after: client.position, sink, shown))
        client.take(sink)
        let filter = ChangeFilter(.square)
        let list = shown.all.filter { filter.shows($0.value.place) && (words == nil || $0.value.words == Array(" chess".utf8)) }
            .mapValues { String(decoding: $0.json, as: UTF8.self) }
        #expect(client.events == list && client.position == 1_000 && !client.isReset)
        #expect(dispatcher.resets == 0)
    }

    @Test func `an event that the index has withdrawn already is not sent, although the ring does not know that yet`() {
        let (sink, shown) = (LineSink(), ShownEvents())
        var dispatcher = Make.dispatch(.loaded(at: 0), Make.applied(Make.change(1, to: Make.inside)))
        dispatcher.handle(Make.join(after: 0, sink, shown))
        #expect(sink.blocks == ["id: 1"])
        dispatcher.handle(Make.applied(Make.change(2, from: Make.inside)))
        #expect(sink.blocks.last == "id: 2\nevent: gone\ndata: {\"id\":7}")
    }

    @Test func `a replay ends with the position that it reaches`() {
        let sink = LineSink()
        let dispatcher = Make.dispatch(
            .loaded(at: 0), Make.applied(Make.change(3, to: Make.outside), through: 9), Make.join(after: 1, sink))
        #expect(sink.text == "retry: 2000\nid: 1\n\nid: 9\n\n")
        #expect(dispatcher.sent == 0)
    }

    @Test func `a client that lacks more bytes than the limit of a replay gets a reset`() {
        let (all, some, shown) = (LineSink(), LineSink(), ShownEvents())
        var dispatcher = Make.dispatch(.loaded(at: 0))
        let json = [UInt8](repeating: UInt8(ascii: "x"), count: 1_000)
        for position in 1...Int64(ChangeReplay.limitBytes / 1_000) {
            let change = EventChange(
                cursor: LogCursor(position: position), id: EventID(rawValue: position), before: nil, after: Make.inside,
                json: json)
            shown.apply(change)
            dispatcher.handle(Make.applied(change))
        }
        dispatcher.handle(Make.join(1, after: 0, all, shown))
        dispatcher.handle(Make.join(2, after: 100, some, shown))
        #expect(all.hasEnded && all.text.hasPrefix("event: reset\n"))
        #expect(!some.hasEnded && some.blocks.count > 100)
    }

    // MARK: The ring

    private static func missed(_ ring: ChangeRing, after position: Int64, in search: ChangeSearch = .square) -> [Int64]? {
        ring.missed(after: position, in: search.area, ChangeFilter(search))?.map(\.position)
    }

    @Test func `the ring forgets the oldest changes at its limit`() {
        var ring = ChangeRing(at: 0, limit: 10)
        for position in Int64(1)...100 { ring.append(Make.change(position * 2, to: Make.inside)) }
        ring.reached(205)
        #expect((ring.count, ring.floor, ring.end) == (10, 180, 205))
        #expect(Self.missed(ring, after: 179) == nil)
        #expect(Self.missed(ring, after: 180)?.count == 10)
        #expect(Self.missed(ring, after: 199) == [200])
        #expect(Self.missed(ring, after: 205) == [])
    }

    @Test func `after more erasures than the ring keeps no change brings an old position back`() {
        var ring = ChangeRing(at: 0, limit: 2)
        for position in Int64(1)...2 { ring.append(Make.change(position, to: Make.inside)) }
        for position in Int64(3)...1_003 {
            ring.append(
                EventChange(
                    cursor: LogCursor(position: position), id: EventID(rawValue: position), before: Make.inside, after: nil,
                    json: [],
                    isErasure: true))
        }
        ring.append(Make.change(1_004, 5_000, to: Make.inside))
        #expect(Self.missed(ring, after: 2) == nil)
        #expect(Self.missed(ring, after: 3)?.count == 1_001)
    }

    @Test func `a client gets the changes of its area, however many others the ring has`() {
        var ring = ChangeRing(at: 0)
        let many = Int64(ChangeRing.replayLimit)
        for position in 1...many * 2 {
            // The square lies on both sides of the zero meridian and of the equator.
            let place = Make.place(Double(position % 7) - 3, Double(position % 5) - 2)
            let change =
                switch position % 1_000 {
                case 0: Make.change(position, to: place)
                case 1: Make.change(position, from: place, to: Make.outside)
                default: Make.change(position, from: Make.outside, to: Make.outside)
                }
            ring.append(change)
        }
        let expected = (1...many * 2).filter { $0 % 1_000 < 2 }
        #expect(Self.missed(ring, after: 0) == expected)
        #expect(Self.missed(ring, after: many) == expected.filter { $0 > many })
        let world = ChangeSearch(area: .box(DegreeBox(south: -90, west: -180, north: 90, east: 180)))
        #expect(Self.missed(ring, after: 0, in: world) == nil)
        #expect(Self.missed(ring, after: many, in: world)?.count == Int(many))
    }

    @Test func `the changes of an area are those that its filter shows, also across the date line`() {
        var generator = SeededGenerator(seed: 7)
        let search = ChangeSearch(area: .circle(centre: Coordinates(lat: 1, lon: 179.9), radius: 300))
        let filter = ChangeFilter(search)
        func place() -> EventPlace? {
            let longitudes = Bool.random(using: &generator) ? 175.0...180 : -180 ... -175.0
            return Int.random(in: 0..<4, using: &generator) == 0
                ? nil : Make.place(.random(in: -3...5, using: &generator), .random(in: longitudes, using: &generator))
        }
        var ring = ChangeRing(at: 0)
        var expected: [Int64] = []
        for position in Int64(1)...5_000 {
            let (before, after) = (place(), place())
            ring.append(Make.change(position, from: before, to: after))
            if [before, after].contains(where: { $0.map(filter.shows) == true }) { expected.append(position) }
        }
        #expect(Self.missed(ring, after: 0, in: search) == expected && expected.count > 500)
    }
}

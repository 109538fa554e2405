import EventStore
import Postgres
import SpatialIndex
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

/// A client that keeps a list, follows its changes, and may lose its connection at any line.
struct ChangeClient {
    var events: [EventID: String] = [:]
    var cursor: LogCursor
    private(set) var puts = 0
    private(set) var isReset = false

    var position: Int64 { cursor.position }

    init(_ cursor: LogCursor) { self.cursor = cursor }

    /// The id in an event's text: the first number.
    static func id(of text: String) -> EventID {
        EventID(rawValue: text.firstMatch(of: /\d+/).flatMap { Int64($0.output) } ?? -1)
    }

    /// Takes the first lines of a stream, up to a position.
    mutating func take(_ sink: LineSink, lines: Int = .max, through last: Int64 = .max) {
        for block in sink.blocks.prefix(lines) {
            let fields = block.split(separator: "\n").map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
            let values = Dictionary(fields.map { ($0[0], $0.count > 1 ? $0[1] : "") }, uniquingKeysWith: { $1 })
            if values["event"] == "reset" { isReset = true }
            guard let id = values["id"].flatMap({ LogCursor($0) }), id.position <= last else { continue }
            #expect(id.position >= position, "the ids of a stream rise")
            cursor = id
            guard let data = values["data"] else { continue }
            events[Self.id(of: data)] = values["event"] == "put" ? data : nil
            if values["event"] == "put" { puts += 1 }
        }
    }
}

@Suite struct `Following the changes of a list` {
    private static let search = NearestRequest(centre: Coordinates(lat: 0, lon: 179.9), radius: 300)

    /// A place near the border of the search, on both sides of the date line.
    private static func details(using generator: inout SeededGenerator) -> EventDetails {
        var details = EventDetails.picnic
        let place = Places.from(
            search.centre, kilometres: Double.random(in: 200...400, using: &generator),
            bearing: Double.random(in: 0...360, using: &generator))
        details.coordinates = place
        return details
    }

    /// Waits until the node has sent all changes up to a position.
    private static func sent(_ node: TestNode<EventsModule>, _ position: Int64) async throws {
        try await eventually { node.module.changeStatus.lastPosition >= position }
    }

    @Test func `a list and its changes equal the list at the end, across two nodes`() async throws {
        try await TestNode.withTwo { first, second in
            var generator = SeededGenerator(seed: 5)
            var ids: [EventID] = []
            var last: Int64 = 0
            for _ in 0..<20 {
                let created = try await first.create(Self.details(using: &generator))
                ids.append(created.id)
                last = created.position
            }
            let view = try await first.module.view()
            var follower = ChangeClient(view.end)
            for text in try await view.find(Self.search).texts { follower.events[ChangeClient.id(of: text)] = text }
            let changes = ChangeSearch(area: .circle(centre: Self.search.centre, radius: Self.search.radius))
            // Each round continues at the other node, from the last position that the client saw.
            for round in 0..<6 {
                let (reader, writer) = round % 2 == 0 ? (first, second) : (second, first)
                let sink = LineSink()
                let number = reader.module.openChanges(changes, after: follower.cursor, sink: sink.take)
                for _ in 0..<20 {
                    if Bool.random(using: &generator) {
                        let id = try #require(ids.randomElement(using: &generator))
                        last = try await writer.update(id, to: Self.details(using: &generator))
                    } else {
                        let created = try await writer.create(Self.details(using: &generator))
                        ids.append(created.id)
                        last = created.position
                    }
                }
                try await Self.sent(reader, last)
                reader.module.closeChanges(number)
                // The connection breaks before the client has read the last lines.
                follower.take(sink, through: round == 5 ? last : last - 3)
                #expect(!follower.isReset && !sink.hasEnded)
                #expect(try await reader.reader.cursor(at: follower.position) == follower.cursor)
            }
            let list = try await first.module.view(atLeast: last).find(Self.search).texts
            #expect(follower.events.values.sorted() == list.sorted())
            #expect(follower.puts > 20)
        }
    }

    @Test func `changes without an open stream wait for a tick, for the next stream, or until there are many`() async throws {
        let place = EventPlace(coordinates: Coordinates(lat: 1, lon: 2), startedAt: .startOfPicnic, endsAt: .endOfPicnic)
        func changes(_ positions: ClosedRange<Int64>) -> [EventChange] {
            positions.map {
                EventChange(
                    cursor: LogCursor(position: $0), id: EventID(rawValue: $0), before: nil, after: place, json: [0x30])
            }
        }
        let feed = ChangeFeed(heartbeatSeconds: 86_400)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await feed.run() }
            defer { group.cancelAll() }
            feed.indexLoaded(at: 10)
            feed.indexApplied(changes(11...11), through: 11)
            feed.tick()
            try await eventually { feed.status.lastPosition == 11 }
            feed.indexApplied(changes(12...12), through: 12)
            let sink = LineSink()
            let number = feed.join(.square, after: 10, sink: sink.take) { _ in
                HeldEvent(owner: UserID(rawValue: 1), version: 1, place: place, json: [0x30])
            }
            try await eventually { sink.blocks.count == 2 }
            feed.indexApplied(changes(13...13), through: 13)
            try await eventually { sink.blocks.count == 3 }
            feed.leave(number)
            try await eventually { feed.status.streams == 0 }
            feed.indexApplied(changes(14...1_014), through: 1_014)
            try await eventually { feed.status.lastPosition == 1_014 }
            #expect(sink.blocks.count == 3)
        }
    }

    @Test func `a stream that leaves before its turn gives its room to another`() async throws {
        let feed = ChangeFeed(heartbeatSeconds: 86_400)
        let sinks = (0..<2_000).map { _ in LineSink() }
        let numbers = sinks.map { feed.join(.square, after: 0, sink: $0.take) { _ in nil } }
        #expect(!feed.hasRoom)
        feed.leave(numbers[0])
        feed.end(numbers[1])
        #expect(feed.hasRoom && sinks[1].hasEnded)
        feed.indexLoaded(at: 0)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await feed.run() }
            defer { group.cancelAll() }
            try await eventually { feed.status.streams == 1_998 }
        }
        #expect(sinks[0].text.isEmpty && !sinks[0].hasEnded && sinks[1].text.isEmpty)
        // The end of the feed sends the last position.
        #expect(sinks[2].text == "retry: 2000\nid: 0\n\nid: 0\n\n" && sinks[2].hasEnded)
    }

    @Test func `a stream that waits while the index is closed and loaded again gets a reset`() async throws {
        let (feed, sink) = (ChangeFeed(heartbeatSeconds: 86_400), LineSink())
        feed.indexLoaded(at: 5)
        _ = feed.join(.square, after: 5, sink: sink.take) { _ in nil }
        // The log lost its end. The position 5 is another one now.
        feed.indexClosed()
        feed.indexLoaded(at: 3)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await feed.run() }
            defer { group.cancelAll() }
            try await eventually { sink.hasEnded }
            #expect(sink.text.hasPrefix("event: reset\n"))
        }
    }
}

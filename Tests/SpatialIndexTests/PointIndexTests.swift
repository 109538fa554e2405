import Foundation
import Synchronization
import TestChance
import Testing
import Users

@testable import Events

@Suite struct `The index of a node` {
    private let owner = UserID(rawValue: 3)
    private let berlin = Coordinates(lat: 52.52, lon: 13.405)
    private let lima = Coordinates(lat: -12.046, lon: -77.043)

    @Test(arguments: IndexWorld.Spread.allCases)
    func `answers every event by its id, and no other`(spread: IndexWorld.Spread) throws {
        var world = IndexWorld(spread, seed: 61)
        let index = EventIndex()
        for round in 0..<20 {
            index.apply(world.batch(of: round == 0 ? 2_000 : 200, ids: 3_000), position: Int64(round))
            let snapshot = index.snapshot
            for id in Int64(0)...3_001 {
                let entry = snapshot.event(EventID(rawValue: id))
                try #require(entry?.version == world.events[id]?.version, "\(id)")
                try #require(entry?.owner == world.events[id]?.owner, "\(id)")
                try #require(entry?.text == world.events[id]?.json, "\(id)")
            }
        }
    }

    @Test func `takes the last change of an event in a batch`() {
        let index = EventIndex()
        var batch = EventIndex.Batch()
        batch.put(EventID(rawValue: 1), owner: owner, version: 1, coordinates: berlin, json: "old".utf8)
        batch.put(EventID(rawValue: 1), owner: owner, version: 2, coordinates: lima, json: "new".utf8)
        batch.put(EventID(rawValue: 2), owner: owner, version: 1, coordinates: lima, json: "gone".utf8)
        batch.remove(EventID(rawValue: 2))
        batch.remove(EventID(rawValue: 3))
        batch.put(EventID(rawValue: 3), owner: owner, version: 4, coordinates: berlin, json: "back".utf8)
        index.apply(batch, position: 7)
        let snapshot = index.snapshot
        #expect(snapshot.position == 7)
        #expect(snapshot.event(EventID(rawValue: 1))?.text == "new")
        #expect(snapshot.event(EventID(rawValue: 2)) == nil)
        #expect(snapshot.event(EventID(rawValue: 3))?.text == "back")
        #expect(snapshot.nearest(NearbySearch(centre: berlin)).ids == [3])
    }

    @Test func `goes back neither to an earlier position nor to an earlier version of an event`() {
        let index = EventIndex()
        func put(_ json: String, version: Int32, position: Int64) {
            var batch = EventIndex.Batch()
            batch.put(EventID(rawValue: 1), owner: owner, version: version, coordinates: berlin, json: json.utf8)
            index.apply(batch, position: position)
        }
        put("second", version: 2, position: 5)
        put("earlier position", version: 3, position: 4)
        #expect((index.snapshot.event(EventID(rawValue: 1))?.text, index.snapshot.position) == ("second", 5))
        put("earlier version", version: 1, position: 6)
        #expect((index.snapshot.event(EventID(rawValue: 1))?.text, index.snapshot.position) == ("second", 6))
        put("the same again", version: 2, position: 6)
        #expect((index.snapshot.event(EventID(rawValue: 1))?.text, index.snapshot.position) == ("the same again", 6))
        var batch = EventIndex.Batch()
        batch.remove(EventID(rawValue: 1))
        batch.put(EventID(rawValue: 1), owner: owner, version: 1, coordinates: berlin, json: "anew".utf8)
        index.apply(batch, position: 7)
        #expect(index.snapshot.event(EventID(rawValue: 1))?.text == "anew")
        var bulkLoad = EventIndex.BulkLoad()
        index.fill(from: &bulkLoad, position: 6)
        #expect((index.snapshot.count, index.snapshot.position) == (1, 7))
        index.fill(from: &bulkLoad, position: 7)
        #expect((index.snapshot.count, index.snapshot.position) == (0, 7))
    }

    @Test func `knows ids of any size`() {
        let index = EventIndex()
        let ids = [Int64.min, -1, 0, 1, 2_047, 2_048, 1 << 40, .max]
        var batch = EventIndex.Batch()
        for id in ids { batch.put(EventID(rawValue: id), owner: owner, version: 1, coordinates: berlin, json: "\(id)".utf8) }
        index.apply(batch, position: 1)
        #expect(ids.map { index.snapshot.event(EventID(rawValue: $0))?.text } == ids.map { "\($0)" })
        #expect(index.snapshot.nearest(NearbySearch(centre: berlin)).ids == ids)
    }

    @Test func `stays as large as what it holds through updates, and gives the index of what is removed back`() {
        var world = IndexWorld(.clustered, seed: 62)
        let index = EventIndex()
        for round in 0..<4 { index.apply(world.batch(of: 5_000, ids: 5_000, removalPercent: 0), position: Int64(round)) }
        func bytesEach() -> Int {
            let json = world.events.values.reduce(0) { $0 + $1.json.utf8.count }
            return (index.snapshot.bytes - json) / index.snapshot.count
        }
        let filled = bytesEach()
        #expect(filled < 80)
        var bulkLoad = world.bulkLoad
        index.fill(from: &bulkLoad, position: 4)
        #expect(bytesEach() < 75)
        for round in 0..<200 { index.apply(world.batch(of: 50, ids: 5_000, removalPercent: 0), position: Int64(4 + round)) }
        #expect(bytesEach() < filled + 7)
        for round in 0..<150 { index.apply(world.batch(of: 400, ids: 5_000, removalPercent: 97), position: Int64(204 + round)) }
        #expect(index.snapshot.count < 400)
        #expect(index.snapshot.bytes < 150_000)
        var batch = EventIndex.Batch()
        for id in world.events.keys { batch.remove(EventID(rawValue: id)) }
        index.apply(batch, position: 600)
        #expect(index.snapshot.count == 0)
        #expect(index.snapshot.bytes < 2_000)
    }

    @Test func `keeps a snapshot as it was`() {
        var world = IndexWorld(.clustered, seed: 63)
        let index = EventIndex()
        index.apply(world.batch(of: 1_000, ids: 500, removalPercent: 0), position: 1)
        let (snapshot, events) = (index.snapshot, world.events)
        for round in 0..<50 { index.apply(world.batch(of: 200, ids: 500), position: Int64(2 + round)) }
        #expect(snapshot.position == 1)
        #expect(events.allSatisfy { snapshot.event(EventID(rawValue: $0))?.text == $1.json })
        let search = NearbySearch(centre: berlin, radius: 50_000)
        #expect(snapshot.nearest(search).ids.sorted() == events.keys.sorted())
    }

    @Test func `lets readers keep what they have taken when it is gone itself`() {
        var world = IndexWorld(.clustered, seed: 65)
        func taken() -> (snapshot: EventIndex.Snapshot, page: EventIndex.Page, entry: EventIndex.Entry?) {
            let index = EventIndex()
            index.apply(world.batch(of: 1_000, ids: 500, removalPercent: 0), position: 1)
            let page = index.snapshot.nearest(NearbySearch(centre: berlin, radius: 50_000))
            let entry = index.snapshot.event(EventID(rawValue: page.ids[0]))
            index.apply(world.batch(of: 1_000, ids: 500), position: 2)
            return (index.snapshot, page, entry)
        }
        let (snapshot, page, entry) = taken()
        #expect(world.events.allSatisfy { snapshot.event(EventID(rawValue: $0))?.text == $1.json })
        #expect(page.texts.count == page.count)
        #expect(entry?.text == page.texts[0])
    }

    @Test func `frees what was replaced as soon as no earlier snapshot is held`() {
        struct Weak {
            weak var retired: Retired?
        }
        let index = EventIndex()
        var (kept, retired): (EventIndex.Snapshot?, [Weak]) = (nil, [])
        for position in 1...1_000 {
            var batch = EventIndex.Batch()
            batch.put(EventID(rawValue: 1), owner: owner, version: 1, coordinates: berlin, json: "\(position)".utf8)
            index.apply(batch, position: Int64(position))
            if position == 10 { kept = index.snapshot }
            if position.isMultiple(of: 10) { retired.append(Weak(retired: index.snapshot.retired)) }
        }
        #expect(retired.allSatisfy { $0.retired != nil })
        #expect(kept?.event(EventID(rawValue: 1))?.text == "10")
        kept = nil
        #expect(retired.dropLast().allSatisfy { $0.retired == nil })
        #expect(retired.last?.retired != nil)
    }

    /// Every batch gives all events the version of its position, and moves them from one city to the other.
    @Test func `shows readers beside a writer whole batches only`() async throws {
        let index = EventIndex()
        let (events, last) = (Int64(300), Int64(100))
        let writing = Writing()
        await withTaskGroup { group in
            for reader in 0..<2 {
                group.addTask { await Self.read(index, events: events, reader: reader, until: writing) }
            }
            for position in 1...last {
                var batch = EventIndex.Batch()
                for id in 1...events {
                    let place = position.isMultiple(of: 2) ? berlin : lima
                    let id = EventID(rawValue: id)
                    batch.put(id, owner: owner, version: Int32(position), coordinates: place, json: "\(position)".utf8)
                }
                index.apply(batch, position: position)
                await Task.yield()
            }
            writing.isOver.store(true, ordering: .releasing)
        }
        #expect(index.snapshot.position == last)
    }

    private final class Writing: Sendable {
        let isOver = Atomic(false)
    }

    private static func read(_ index: EventIndex, events: Int64, reader: Int, until writing: Writing) async {
        var generator = SeededGenerator(seed: 64, reader)
        var before: Int64 = -1
        while !writing.isOver.load(ordering: .acquiring) || before < index.snapshot.position {
            let snapshot = index.snapshot
            #expect(snapshot.position >= before)
            before = snapshot.position
            guard before > 0 else {
                await Task.yield()
                continue
            }
            let here = before.isMultiple(of: 2) ? Coordinates(lat: 52.52, lon: 13.405) : Coordinates(lat: -12.046, lon: -77.043)
            let page = snapshot.nearest(NearbySearch(centre: here, radius: 1))
            #expect(page.ids == Array(1...events))
            #expect(Set(page.texts) == ["\(before)"])
            let entry = snapshot.event(EventID(rawValue: .random(in: 1...events, using: &generator)))
            #expect(entry?.version == Int32(before))
            await Task.yield()
        }
    }
}

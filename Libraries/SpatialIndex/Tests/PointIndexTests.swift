import Foundation
import Synchronization
import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `Storing points in the index` {
    private let tag = Int64(3)
    private let berlin = PointIndex.Location(latitude: 52.52, longitude: 13.405)
    private let lima = PointIndex.Location(latitude: -12.046, longitude: -77.043)

    @Test func `the last change of a point in a batch wins`() {
        let index = PointIndex()
        var batch = PointIndex.Batch()
        batch.put(1, tag: tag, version: 1, at: berlin, payload: "old".utf8)
        batch.put(1, tag: tag, version: 2, at: lima, payload: "new".utf8)
        batch.put(2, tag: tag, version: 1, at: lima, payload: "gone".utf8)
        batch.remove(2)
        batch.remove(3)
        batch.put(3, tag: tag, version: 4, at: berlin, payload: "back".utf8)
        index.apply(batch, position: 7)
        let snapshot = index.snapshot
        #expect(snapshot.position == 7)
        #expect(snapshot.entry(1)?.text == "new")
        #expect(snapshot.entry(2) == nil)
        #expect(snapshot.entry(3)?.text == "back")
        #expect(snapshot.search(NearestQuery(centre: berlin.vector)).result().ids == [3])
    }

    @Test func `the index ignores an earlier position and an earlier version of a point`() {
        let index = PointIndex()
        func put(_ payload: String, version: Int32, position: Int64) {
            var batch = PointIndex.Batch()
            batch.put(1, tag: tag, version: version, at: berlin, payload: payload.utf8)
            index.apply(batch, position: position)
        }
        put("second", version: 2, position: 5)
        put("earlier position", version: 3, position: 4)
        #expect((index.snapshot.entry(1)?.text, index.snapshot.position) == ("second", 5))
        put("earlier version", version: 1, position: 6)
        #expect((index.snapshot.entry(1)?.text, index.snapshot.position) == ("second", 6))
        put("the same again", version: 2, position: 6)
        #expect((index.snapshot.entry(1)?.text, index.snapshot.position) == ("the same again", 6))
        var batch = PointIndex.Batch()
        batch.remove(1)
        batch.put(1, tag: tag, version: 1, at: berlin, payload: "anew".utf8)
        index.apply(batch, position: 7)
        #expect(index.snapshot.entry(1)?.text == "anew")
        var bulkLoad = PointIndex.BulkLoad()
        index.fill(from: &bulkLoad, position: 6)
        #expect((index.snapshot.count, index.snapshot.position) == (1, 7))
        index.fill(from: &bulkLoad, position: 7)
        #expect((index.snapshot.count, index.snapshot.position) == (0, 7))
    }

    @Test func `ids of any size are stored`() {
        let index = PointIndex()
        let ids = [Int64.min, -1, 0, 1, 2_047, 2_048, 1 << 40, .max]
        var batch = PointIndex.Batch()
        for id in ids { batch.put(id, tag: tag, version: 1, at: berlin, payload: "\(id)".utf8) }
        index.apply(batch, position: 1)
        #expect(ids.map { index.snapshot.entry($0)?.text } == ids.map { "\($0)" })
        #expect(index.snapshot.search(NearestQuery(centre: berlin.vector)).result().ids == ids)
        for limit in 1...ids.count + 1 {
            var (found, last) = ([Int64](), Int64?.none)
            while true {
                let entries = index.snapshot.entries(after: last, limit: limit)
                guard let end = entries.last else { break }
                #expect(entries.count <= limit)
                (found, last) = (found + entries.map(\.id), end.id)
            }
            #expect(found == ids)
        }
    }

    @Test func `a point keeps its tag and its note through changes of its neighbours and a bulk load`() {
        var world = PointWorld(.clustered, seed: 66)
        let index = PointIndex()
        for round in 0..<20 { index.apply(world.batch(of: 100, ids: 400), position: Int64(round)) }
        func isKept() -> Bool {
            world.points.allSatisfy { id, held in
                let entry = index.snapshot.entry(id)
                return entry?.tag == held.tag && entry?.note == held.note && entry?.text == held.payload
            }
        }
        #expect(isKept())
        var bulkLoad = world.bulkLoad
        index.fill(from: &bulkLoad, position: 20)
        #expect(isKept())
    }

    @Test func `the index's bytes stay bounded under updates and shrink after removals`() {
        var world = PointWorld(.clustered, seed: 62)
        let index = PointIndex()
        for round in 0..<4 { index.apply(world.batch(of: 5_000, ids: 5_000, removalPercent: 0), position: Int64(round)) }
        func bytesEach() -> Int {
            let json = world.points.values.reduce(0) { $0 + $1.payload.utf8.count }
            return (index.snapshot.bytes - json) / index.snapshot.count
        }
        let filled = bytesEach()
        #expect(filled < 120)
        var bulkLoad = world.bulkLoad
        index.fill(from: &bulkLoad, position: 4)
        #expect(bytesEach() < 118)
        for round in 0..<200 { index.apply(world.batch(of: 50, ids: 5_000, removalPercent: 0), position: Int64(4 + round)) }
        #expect(bytesEach() < filled + 7)
        for round in 0..<150 { index.apply(world.batch(of: 400, ids: 5_000, removalPercent: 97), position: Int64(204 + round)) }
        #expect(index.snapshot.count < 400)
        #expect(index.snapshot.bytes < 150_000)
        var batch = PointIndex.Batch()
        for id in world.points.keys { batch.remove(id) }
        index.apply(batch, position: 600)
        #expect(index.snapshot.count == 0)
        #expect(index.snapshot.bytes < 2_000)
    }

    @Test func `the bytes that only earlier snapshots hold are counted until these are released`() {
        var world = PointWorld(.clustered, seed: 64)
        let index = PointIndex()
        index.apply(world.batch(of: 5_000, ids: 5_000, removalPercent: 0), position: 0)
        var snapshot: PointIndex.Snapshot? = index.snapshot
        let bytes = index.snapshot.bytes
        for round in 1..<100 { index.apply(world.batch(of: 50, ids: 5_000, removalPercent: 0), position: Int64(round)) }
        // Each point has been replaced about once, and each leaf several times.
        #expect(index.backlogBytes > 2 * bytes)
        #expect(index.backlogBytes < 200 * bytes)
        withExtendedLifetime(snapshot) {}
        snapshot = nil
        // The writer keeps the last snapshot but one.
        #expect(index.backlogBytes < bytes)
        let before = index.snapshot.bytes
        snapshot = index.snapshot
        index.removeAll()
        #expect(index.backlogBytes >= before * 9 / 10)
        withExtendedLifetime(snapshot) {}
        snapshot = nil
        #expect(index.backlogBytes == 0)
    }

    @Test func `a snapshot does not change after later batches`() {
        var world = PointWorld(.clustered, seed: 63)
        let index = PointIndex()
        index.apply(world.batch(of: 1_000, ids: 500, removalPercent: 0), position: 1)
        let (snapshot, events) = (index.snapshot, world.points)
        for round in 0..<50 { index.apply(world.batch(of: 200, ids: 500), position: Int64(2 + round)) }
        #expect(snapshot.position == 1)
        #expect(events.allSatisfy { snapshot.entry($0)?.text == $1.payload })
        let search = NearestQuery(centre: berlin.vector, radius: 50_000)
        #expect(snapshot.search(search).result().ids.sorted() == events.keys.sorted())
    }

    @Test func `a snapshot, a page and an entry outlive the index`() {
        var world = PointWorld(.clustered, seed: 65)
        func taken() -> (snapshot: PointIndex.Snapshot, page: PointIndex.Page, entry: PointIndex.Entry?) {
            let index = PointIndex()
            index.apply(world.batch(of: 1_000, ids: 500, removalPercent: 0), position: 1)
            let page = index.snapshot.search(NearestQuery(centre: berlin.vector, radius: 50_000)).result()
            let entry = index.snapshot.entry(page.ids[0])
            index.apply(world.batch(of: 1_000, ids: 500), position: 2)
            return (index.snapshot, page, entry)
        }
        let (snapshot, page, entry) = taken()
        #expect(world.points.allSatisfy { snapshot.entry($0)?.text == $1.payload })
        #expect(page.texts.count == page.count)
        #expect(entry?.text == page.texts[0])
    }

    @Test func `replaced blocks are freed when the last earlier snapshot is released`() {
        struct Weak {
            weak var retired: DeferredReclamation?
        }
        let index = PointIndex()
        var (kept, retired): (PointIndex.Snapshot?, [Weak]) = (nil, [])
        for position in 1...1_000 {
            var batch = PointIndex.Batch()
            batch.put(1, tag: tag, version: 1, at: berlin, payload: "\(position)".utf8)
            index.apply(batch, position: Int64(position))
            if position == 10 { kept = index.snapshot }
            if position.isMultiple(of: 10) { retired.append(Weak(retired: index.snapshot.reclamation)) }
        }
        #expect(retired.allSatisfy { $0.retired != nil })
        #expect(kept?.entry(1)?.text == "10")
        kept = nil
        #expect(retired.dropLast().allSatisfy { $0.retired == nil })
        #expect(retired.last?.retired != nil)
    }

    /// Every batch gives all events the version of its position, and moves them from one city to the other.
    @Test func `concurrent readers see whole batches only`() async throws {
        let index = PointIndex()
        let (events, last) = (Int64(300), Int64(100))
        let writing = Writing()
        await withTaskGroup { group in
            for reader in 0..<2 {
                group.addTask { await Self.read(index, events: events, reader: reader, until: writing) }
            }
            for position in 1...last {
                var batch = PointIndex.Batch()
                for id in 1...events {
                    let place = position.isMultiple(of: 2) ? berlin : lima
                    batch.put(id, tag: tag, version: Int32(position), at: place, payload: "\(position)".utf8)
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

    private static func read(_ index: PointIndex, events: Int64, reader: Int, until writing: Writing) async {
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
            let here =
                before.isMultiple(of: 2)
                ? UnitVector(latitude: 52.52, longitude: 13.405) : UnitVector(latitude: -12.046, longitude: -77.043)
            let page = snapshot.search(NearestQuery(centre: here, radius: 1)).result()
            #expect(page.ids == Array(1...events))
            #expect(Set(page.texts) == ["\(before)"])
            let entry = snapshot.entry(.random(in: 1...events, using: &generator))
            #expect(entry?.version == Int32(before))
            await Task.yield()
        }
    }
}

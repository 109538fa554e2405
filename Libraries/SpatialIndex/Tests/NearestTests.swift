import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `Searching the index` {
    @Test(arguments: PointWorld.Spread.allCases)
    func `after every batch a search finds the same points as a full scan, in the same order`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 51)
        let index = PointIndex()
        var found = 0
        for round in 0..<20 {
            // First a large batch, as in a load; then small ones; in the end most events are removed.
            let removals = round < 14 ? 20 : 80
            let batch = world.batch(of: round == 0 ? 2_500 : 150, ids: 1_500, removalPercent: removals)
            index.apply(batch, position: Int64(round))
            let snapshot = index.snapshot
            try #require(snapshot.count == world.points.count)
            for _ in 0..<8 {
                let (centre, radius) = (world.place(), world.radius())
                let everyone = world.everyone(within: radius, of: centre)
                let limit = Int.random(in: 1...1_000, using: &world.generator)
                let page = snapshot.search(NearestQuery(centre: centre, radius: radius, limit: limit)).result()
                try #require(page.ids == everyone.prefix(limit).map(\.id), "\(limit) within \(radius) km of \(centre)")
                try #require(page.next == (everyone.count > limit ? everyone[limit - 1] : nil), "\(centre) \(radius) \(limit)")
                try #require(page.texts == page.ids.map { world.points[$0]?.payload })
                found += page.count
            }
        }
        #expect(found > 5_000)
    }

    @Test(arguments: PointWorld.Spread.allCases)
    func `a search after a bulk load and after later batches finds the same points as a full scan`(spread: PointWorld.Spread)
        throws
    {
        var world = PointWorld(spread, seed: 54)
        let index = PointIndex()
        // Events that the load must replace.
        var other = PointWorld(.uniform, seed: 55)
        index.apply(other.batch(of: 500, ids: 5_000), position: 1)
        _ = world.batch(of: 3_000, ids: 4_000)
        var bulkLoad = world.bulkLoad
        index.fill(from: &bulkLoad, position: 2)
        #expect(bulkLoad.count == 0)
        for position in Int64(2)..<10 {
            let snapshot = index.snapshot
            try #require((snapshot.position, snapshot.count) == (position, world.points.count))
            let radius = world.radius()
            let search = NearestQuery(centre: world.place(), radius: radius)
            let everyone = world.everyone(within: radius, of: search.centre)
            let page = snapshot.search(search).result()
            try #require(page.ids == everyone.prefix(search.limit).map(\.id), "\(search)")
            try #require(page.texts == page.ids.map { world.points[$0]?.payload })
            let points = world.points
            try #require((Int64(0)...5_001).first { snapshot.entry($0)?.tag != points[$0]?.tag } == nil)
            index.apply(world.batch(of: 200, ids: 4_000), position: position + 1)
        }
    }

    @Test(arguments: PointWorld.Spread.allCases)
    func `the pages of a search contain every point once`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 52)
        let index = PointIndex()
        index.apply(world.batch(of: 2_000, ids: 3_000), position: 1)
        let snapshot = index.snapshot
        for (radius, limit) in [(50_000.0, 1), (50_000, 7), (20_015, 1_000), (300, 40), (0, 3)] {
            var search = NearestQuery(centre: world.place(), radius: radius, limit: limit)
            let everyone = world.everyone(within: radius, of: search.centre)
            var found: [Int64] = []
            // Single-event pages are slow, so only the first of them are read.
            for _ in 0..<(limit == 1 ? 200 : everyone.count + 1) {
                let page = snapshot.search(search).result()
                found += page.ids
                search.after = page.next
                if page.next == nil { break }
            }
            let expected = everyone.map(\.id)
            try #require(found == (limit == 1 ? Array(expected.prefix(found.count)) : expected), "\(limit) within \(radius) km")
            #expect(!found.isEmpty || everyone.isEmpty)
        }
    }

    @Test func `a search continues after any cursor, even one of a removed point`() throws {
        var world = PointWorld(.clustered, seed: 53)
        let index = PointIndex()
        index.apply(world.batch(of: 4_000, ids: 2_000), position: 1)
        for _ in 0..<200 {
            let centre = world.place()
            let everyone = world.everyone(within: 30, of: centre)
            guard let from = everyone.randomElement(using: &world.generator) else { continue }
            let id = from.id + Int64.random(in: -1...1, using: &world.generator)
            let after = NearestQuery.Cursor(squaredChord: from.squaredChord, id: id)
            let expected = everyone.filter { ($0.squaredChord, $0.id) > (after.squaredChord, after.id) }
            let page = index.snapshot.search(NearestQuery(centre: centre, radius: 30, limit: 50, after: after)).result()
            try #require(page.ids == expected.prefix(50).map(\.id), "\(centre) \(after)")
        }
    }

    @Test func `an empty index finds no points`() {
        let empty = PointIndex().snapshot
        #expect(empty.search(NearestQuery(centre: UnitVector(latitude: 0, longitude: 0), radius: 50_000)).result().count == 0)
        #expect(empty.entry(1) == nil)
        #expect((empty.count, empty.position) == (0, -1))
    }

    @Test func `points in one place are found in the order of their ids`() {
        let index = PointIndex()
        var batch = PointIndex.Batch()
        let location = PointIndex.Location(latitude: 52.5200066, longitude: 13.404954)
        for id in (1...5_000).reversed() {
            let id = Int64(id)
            batch.put(id, version: 1, at: location, payload: "{}".utf8)
        }
        index.apply(batch, position: 1)
        let page = index.snapshot.search(NearestQuery(centre: location.vector, radius: 0)).result()
        #expect(page.ids == Array(1...1_000))
        #expect(page.next == NearestQuery.Cursor(squaredChord: 0, id: 1_000))
    }
}

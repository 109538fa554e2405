import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `A search in parts` {
    private static let everywhere = DegreeBox(south: -90, west: -180, north: 90, east: 180)

    @Test(arguments: PointWorld.Spread.allCases)
    func `the parts of a search together find what one part finds, page by page`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 96)
        let index = PointIndex()
        index.apply(world.batch(of: 6_000, ids: 4_000), position: 1)
        let snapshot = index.snapshot
        var (found, parts) = (0, 0)
        for _ in 0..<30 {
            let visits = Int.random(in: 1...20, using: &world.generator)
            var near = NearestQuery(
                centre: world.place(), radius: world.radius(), limit: Int.random(in: 1...1_000, using: &world.generator))
            var box = BoxQuery(box: world.box(), limit: near.limit)
            (near.window, box.window) = (world.window(), world.window())
            for _ in 0..<3 {
                let (page, number) = snapshot.search(near).inParts(of: visits)
                let whole = snapshot.search(near).result()
                try #require((page.ids, page.next) == (whole.ids, whole.next), "\(near)")
                try #require(page.texts == whole.texts)
                near.after = page.next
                let (boxed, boxedNumber) = snapshot.search(box).inParts(of: visits)
                let wholeBox = snapshot.search(box).result()
                try #require((boxed.ids, boxed.nextID) == (wholeBox.ids, wholeBox.nextID), "\(box)")
                box.after = boxed.nextID
                found += page.count + boxed.count
                parts += number + boxedNumber
            }
            let cells = ClusterQuery(
                box: Self.everywhere, window: near.window, latitudes: [-30, 0, 45], longitudes: [-90, 0, 90])
            try #require(snapshot.search(cells).inParts(of: visits).result == snapshot.search(cells).result())
        }
        #expect(found > 500)
        #expect(parts > 300)
    }

    /// The window has hardly any point, but overlaps the limits of each leaf, as with events of one millisecond.
    @Test func `a search that must read every leaf takes as many parts as the leaves need`() throws {
        var batch = PointIndex.Batch()
        var generator = SeededGenerator(seed: 97)
        for id in Int64(1)...20_000 {
            let moment = Int64.random(in: 0...1_000_000, using: &generator)
            let location = PointIndex.Location(
                latitude: Double.random(in: -80...80, using: &generator),
                longitude: Double.random(in: -180...180, using: &generator), span: moment...moment)
            batch.put(id, version: 1, at: location, payload: "".utf8)
        }
        let index = PointIndex()
        index.apply(batch, position: 1)
        let (snapshot, window) = (index.snapshot, Int64(500_000)...500_000)
        let leaves = 20_000 / Leaf.capacity
        let centre = UnitVector(latitude: 0, longitude: 0)
        func check(_ search: some PointSearch) {
            var search = search
            #expect(search.part(visits: leaves / 2) == nil)
            // One part may exceed its visits by one node.
            let parts = search.inParts(of: 10).parts
            #expect(parts >= leaves / 2 / 14 && parts <= 3 * leaves / 10, "\(parts) parts, \(leaves) leaves")
        }
        check(snapshot.search(NearestQuery(centre: centre, radius: 50_000, limit: 1_000).within(window)))
        check(snapshot.search(BoxQuery(box: Self.everywhere, window: window, limit: 1_000)))
        check(
            snapshot.search(
                ClusterQuery(box: Self.everywhere, window: window, latitudes: [0], longitudes: [0])))
    }

    @Test func `many points in one place are selected by their ids, and each of them counts as work`() throws {
        var batch = PointIndex.Batch()
        let place = PointIndex.Location(latitude: 52.5, longitude: 13.4)
        for id in Int64(1)...20_000 { batch.put(id, version: 1, at: place, payload: "".utf8) }
        let index = PointIndex()
        index.apply(batch, position: 1)
        var query = NearestQuery(centre: place.vector, radius: 0, limit: 1_000)
        for page in Int64(0)..<3 {
            let (found, parts) = index.snapshot.search(query).inParts(of: 10)
            #expect(found.ids == Array(1_000 * page + 1...1_000 * page + 1_000))
            #expect(parts > 20_000 / Leaf.capacity / 14)
            query.after = found.next
        }
    }
}

extension PointSearch {
    fileprivate func inParts(of visits: Int) -> (result: Result, parts: Int) {
        var (search, parts) = (self, 1)
        while true {
            if let result = search.part(visits: visits) { return (result, parts) }
            parts += 1
        }
    }
}

extension NearestQuery {
    fileprivate func within(_ window: ClosedRange<Int64>) -> NearestQuery {
        var query = self
        query.window = window
        return query
    }
}

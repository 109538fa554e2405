import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `Searching boxes and windows in the index` {
    @Test(arguments: PointWorld.Spread.allCases)
    func `a search in a window finds the same points as a full scan, page by page`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 91)
        let index = PointIndex()
        var found = 0
        for round in 0..<6 {
            index.apply(world.batch(of: round == 0 ? 3_000 : 200, ids: 2_000), position: Int64(round))
            for _ in 0..<6 {
                let window = world.window()
                let radius = world.radius()
                let limit = Int.random(in: 1...400, using: &world.generator)
                var query = NearestQuery(centre: world.place(), radius: radius, limit: limit)
                query.window = window
                let everyone = world.everyone(within: radius, of: query.centre)
                    .filter { world.points[$0.id]?.location.span.overlaps(window) == true }.map(\.id)
                var ids: [Int64] = []
                for _ in 0...(everyone.count / limit) {
                    let page = index.snapshot.search(query).result()
                    ids += page.ids
                    query.after = page.next
                    if page.isLast { break }
                }
                try #require(ids == everyone, "\(window) within \(radius) km, \(limit) a page")
                found += ids.count
            }
        }
        #expect(found > 400)
    }

    @Test(arguments: PointWorld.Spread.allCases)
    func `the pages of a box contain the same points as a full scan, in the order of ids`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 92)
        let index = PointIndex()
        var found = 0
        for round in 0..<6 {
            index.apply(world.batch(of: round == 0 ? 5_000 : 200, ids: 4_000), position: Int64(round))
            for _ in 0..<6 {
                let (box, window) = (world.box(), world.generator.happens(inPercent: 50) ? world.window() : nil)
                let expected = world.ids(in: box, window)
                let limit = Int.random(in: 1...400, using: &world.generator)
                var query = BoxQuery(box: box, window: window, limit: limit)
                var ids: [Int64] = []
                for _ in 0...(expected.count / limit) {
                    let page = index.snapshot.search(query).result()
                    try #require(page.texts == page.ids.map { world.points[$0]?.payload })
                    ids += page.ids
                    query.after = page.nextID
                    if page.isLast { break }
                }
                try #require(ids == expected, "\(box) \(String(describing: window)), \(limit) a page")
                found += ids.count
            }
        }
        #expect(found > 400)
    }

    @Test func `a page of a box with most points is found by the order of ids and by the tree alike`() throws {
        var world = PointWorld(.uniform, seed: 93)
        let index = PointIndex()
        _ = world.batch(of: 30_000, ids: 20_000, removalPercent: 0)
        var bulkLoad = world.bulkLoad
        index.fill(from: &bulkLoad, position: 1)
        let world180 = DegreeBox(south: -90, west: -180, north: 90, east: 180)
        for box in [
            world180, DegreeBox(south: -90, west: 0, north: 90, east: 180), DegreeBox(south: 0, west: 90, north: 90, east: -90),
        ] {
            let expected = world.ids(in: box, nil)
            for limit in [1, 10, 50, 1_000] {
                for after in [nil, 0, 5_000, 19_990, 50_000] as [Int64?] {
                    let page = index.snapshot.search(BoxQuery(box: box, limit: limit, after: after)).result()
                    try #require(page.ids == Array(expected.filter { $0 > after ?? 0 }.prefix(limit)), "\(box) \(limit)")
                }
            }
        }
    }

    @Test func `edges belong to a box, and ids of any size come in order`() {
        let index = PointIndex()
        var batch = PointIndex.Batch()
        let ids = [Int64.min, -3, 0, 5, .max]
        for id in ids { batch.put(id, version: 1, at: .init(latitude: 10, longitude: 20), payload: "".utf8) }
        for (id, longitude) in [(Int64(6), 180.0), (7, -180)] {
            batch.put(id, version: 1, at: .init(latitude: 0, longitude: longitude), payload: "".utf8)
        }
        index.apply(batch, position: 1)
        func found(_ south: Double, _ west: Double, _ north: Double, _ east: Double, after: Int64? = nil) -> [Int64] {
            let box = DegreeBox(south: south, west: west, north: north, east: east)
            return index.snapshot.search(BoxQuery(box: box, limit: 10, after: after)).result().ids
        }
        #expect(found(10, 20, 10, 20) == ids)
        #expect(found(10, 20, 30, 30) == ids)
        #expect(found(0, 0, 10, 20) == ids)
        #expect(found(10.nextUp, 20, 30, 30) == [])
        #expect(found(10, 20.nextUp, 30, 30) == [])
        #expect(found(10, 20, 10, 20, after: 0) == [5, .max])
        #expect(found(10, 20, 10, 20, after: .max) == [])
        #expect(found(0, 180, 0, -180) == [6, 7])
        #expect(found(0, 180, 0, 180) == [6])
        #expect(found(0, -180, 0, -180) == [7])
    }

    @Test(arguments: PointWorld.Spread.allCases)
    func `the counts of cells are those of a full scan`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 95)
        let index = PointIndex()
        for round in 0..<6 {
            index.apply(world.batch(of: round == 0 ? 5_000 : 200, ids: 4_000), position: Int64(round))
            for _ in 0..<6 {
                var box = world.box()
                if box.west > box.east { (box.west, box.east) = (box.east, box.west) }
                let window = world.generator.happens(inPercent: 50) ? world.window() : nil
                // Some boundaries are the degrees of points.
                let some = world.points.values.prefix(3).map(\.location)
                let latitudes = (some.map(\.latitude) + [-30, 0, 45]).sorted()
                let longitudes = (some.map(\.longitude) + [-90, 0, 90]).sorted()
                let query = ClusterQuery(box: box, window: window, latitudes: latitudes, longitudes: longitudes)
                let expected = Dictionary(grouping: world.ids(in: box, window).compactMap { world.points[$0]?.location }) {
                    place in
                    [latitudes.count { $0 <= place.latitude }, longitudes.count { $0 <= place.longitude }]
                }
                let clusters = index.snapshot.search(query).result()
                try #require(clusters.map { [$0.row, $0.column] } == expected.keys.sorted { ($0[0], $0[1]) < ($1[0], $1[1]) })
                for cluster in clusters {
                    let places = expected[[cluster.row, cluster.column]] ?? []
                    try #require(cluster.count == places.count)
                    try #require(cluster.box.south == places.map(\.latitude).min())
                    try #require(cluster.box.west == places.map(\.longitude).min())
                    try #require(cluster.box.north == places.map(\.latitude).max())
                    try #require(cluster.box.east == places.map(\.longitude).max())
                }
            }
        }
    }
}

extension PointWorld {
    /// A window that some points overlap: a moment, a short one, or one without a beginning or an end.
    mutating func window() -> ClosedRange<Int64> {
        let start = Int64.random(in: -60...60, using: &generator)
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return start...start
        case 1: return start ... .max
        case 2: return .min...start
        case _: return start...start + Int64.random(in: 0...20, using: &generator)
        }
    }

    /// A box between the degrees of two points, or around one, or with random edges. It may cross the date line.
    mutating func box() -> DegreeBox {
        let (first, second) = (location(), points.values.randomElement(using: &generator)?.location ?? location())
        let (south, north) = (min(first.latitude, second.latitude), max(first.latitude, second.latitude))
        switch Int.random(in: 0..<4, using: &generator) {
        case 0: return DegreeBox(south: second.latitude, west: second.longitude, north: second.latitude, east: second.longitude)
        case 1: return DegreeBox(south: -90, west: -180, north: 90, east: 180)
        case _: return DegreeBox(south: south, west: first.longitude, north: north, east: second.longitude)
        }
    }

    /// The ids of all points in a box and a window, by brute force.
    func ids(in box: DegreeBox, _ window: ClosedRange<Int64>?) -> [Int64] {
        points.filter { _, held in
            let (latitude, longitude) = (held.location.latitude, held.location.longitude)
            let isBetween = box.west <= longitude && longitude <= box.east
            let isAround = box.west > box.east && (longitude >= box.west || longitude <= box.east)
            guard box.south <= latitude, latitude <= box.north, isBetween || isAround else { return false }
            return window.map { held.location.span.overlaps($0) } ?? true
        }
        .keys.sorted()
    }
}

import Encoding
import EventStore
import SpatialIndex
import TestChance
import Testing
import Users

@testable import Events

@Suite struct `Searching boxes and windows` {
    private typealias Bound = (box: DegreeBox, window: EventFilter)

    private static let minute: Int64 = 60_000

    /// Events at the date line, the poles, the edges of tiles and anywhere, some of them withdrawn, some ending before they begin.
    private static func events() -> [Event] {
        var generator = SeededGenerator(seed: 31)
        return (1...10_000).map { id in
            var place = Places.anywhere(using: &generator)
            switch id % 6 {
            case 0: place = Coordinates(lat: place.lat.rounded(), lon: place.lon.rounded())
            case 1: place.lon = id % 4 < 2 ? 180 : -180
            case 2: place.lat = id % 4 < 2 ? 90 : -90
            case 3: place = Coordinates(lat: Double(id % 5) * 0.25 - 0.5, lon: Double(id % 7) * 0.25 - 0.75)
            case _: break
            }
            let start = Int64.random(in: -100...100, using: &generator) * minute
            let length = Int64.random(in: -5...20, using: &generator) * minute
            var details = EventDetails(name: "Event", coordinates: place, startedAt: Timestamp(milliseconds: start))
            if !id.isMultiple(of: 3) { details.endedAt = Timestamp(milliseconds: start + length) }
            return Event(
                id: EventID(rawValue: Int64(id)), owner: .ann, version: 1, details: details, isCancelled: id % 50 == 7,
                isHidden: id % 50 == 8)
        }
    }

    /// The live events, and an index of them.
    private static func indexed() -> (events: [Event], EventIndex.Snapshot) {
        let events = events().filter(\.isLive)
        let index = EventIndex()
        var batch = EventIndex.Batch()
        for event in events {
            batch.put(event.id, HeldEvent(owner: event.owner, version: 1, place: event.details.place, json: Array("{}".utf8)))
        }
        var bulkLoad = EventIndex.BulkLoad()
        bulkLoad.put(batch)
        index.fill(from: &bulkLoad, position: 1)
        return (events, index.snapshot)
    }

    private static func bounds() -> [Bound] {
        var generator = SeededGenerator(seed: 32)
        let boxes = [
            DegreeBox(south: -90, west: -180, north: 90, east: 180), DegreeBox(south: 0, west: 0, north: 0, east: 0),
            DegreeBox(south: -90, west: 180, north: 90, east: -180), DegreeBox(south: -90, west: 180, north: 90, east: 180),
            DegreeBox(south: 90, west: -180, north: 90, east: 180), DegreeBox(south: -0.25, west: -0.5, north: 0.25, east: 0.5),
            DegreeBox(south: -40, west: 170, north: 40, east: -170), DegreeBox(south: 89.9, west: 0, north: 89.99, east: 0),
        ]
        let random = (0..<12).map { _ in
            let (one, other) = (Places.anywhere(using: &generator), Places.anywhere(using: &generator))
            return DegreeBox(
                south: min(one.lat, other.lat), west: one.lon, north: max(one.lat, other.lat), east: other.lon)
        }
        return (boxes + random).flatMap { box in
            let from = Timestamp(milliseconds: Int64.random(in: -110...110, using: &generator) * minute)
            let to = Timestamp(milliseconds: from.milliseconds + Int64.random(in: 0...20, using: &generator) * minute)
            return [
                (box, EventFilter()), (box, EventFilter(from: from, to: to)), (box, EventFilter(from: from)),
                (box, EventFilter(to: to)), (box, EventFilter(from: from, to: from)),
            ]
        }
    }

    /// By brute force.
    private static func contains(_ bound: Bound, _ event: Event) -> Bool {
        let (box, window, details) = (bound.box, bound.window, event.details)
        let (lat, lon) = (details.coordinates.lat, details.coordinates.lon)
        guard lat >= box.south, lat <= box.north else { return false }
        guard box.west <= box.east ? lon >= box.west && lon <= box.east : lon >= box.west || lon <= box.east else { return false }
        return overlaps(window, details)
    }

    private static func overlaps(_ window: EventFilter, _ details: EventDetails) -> Bool {
        var end = Timestamp(milliseconds: details.startedAt.milliseconds + 3 * 3_600_000)
        if let endedAt = details.endedAt, endedAt >= details.startedAt { end = endedAt }
        if let to = window.to, details.startedAt > to { return false }
        if let from = window.from, end < from { return false }
        return true
    }

    @Test func `index and a full scan find the same events of a box, page by page`() throws {
        let (events, snapshot) = Self.indexed()
        var (generator, found) = (SeededGenerator(seed: 33), 0)
        for bound in Self.bounds() {
            let expected = events.filter { Self.contains(bound, $0) }.map(\.id)
            var search = BoxRequest(box: bound.box, filter: bound.window)
            search.limit = Int.random(in: 1...1_000, using: &generator)
            for start in stride(from: 0, through: min(expected.count, 3 * search.limit), by: search.limit) {
                let page = Array(expected.dropFirst(start).prefix(search.limit))
                let next = start + search.limit < expected.count ? page.last : nil
                let held = snapshot.search(search).result()
                try #require((0..<held.count).map { EventID(rawValue: held[$0].id) } == page, "\(search)")
                try #require(held.nextID.map(EventID.init(rawValue:)) == next, "\(search)")
                found += page.count
                search.after = page.last
                if next == nil { break }
            }
        }
        #expect(found > 1_000)
    }

    @Test func `index and a full scan find the same events nearby in a window`() throws {
        let (events, snapshot) = Self.indexed()
        var (generator, found) = (SeededGenerator(seed: 34), 0)
        for (_, window) in Self.bounds().prefix(60) {
            let centre = events.randomElement(using: &generator)?.details.coordinates ?? Coordinates(lat: 0, lon: 0)
            let radius: Double = [0.5, 5, 100, 1_500, 20_000].randomElement(using: &generator) ?? 1_500
            var search = NearestRequest(centre: centre, radius: radius, filter: window)
            search.limit = Int.random(in: 1...100, using: &generator)
            let bound = Sphere.squaredChord(kilometres: search.radius)
            let expected = events.filter { Self.overlaps(window, $0.details) }
                .map { (UnitVector($0.details.coordinates).squaredChord(to: UnitVector(centre)), $0.id.rawValue) }
                .filter { $0.0 <= bound }.sorted { $0 < $1 }.map(\.1)
            let held = snapshot.search(search).result()
            try #require((0..<held.count).map { held[$0].id } == Array(expected.prefix(search.limit)), "\(search)")
            try #require((held.cursor != nil) == (expected.count > search.limit), "\(search)")
            found += held.count
        }
        #expect(found > 500)
    }

    @Test func `clusters count each event of a box once, and are as large as their events say`() throws {
        let (events, snapshot) = Self.indexed()
        var clusters = 0
        for bound in Self.bounds() {
            for zoom in [0, 1, 3, 4, 12, 22] {
                var query = "bbox=\(bound.box.west),\(bound.box.south),\(bound.box.east),\(bound.box.north)&zoom=\(zoom)"
                if let from = bound.window.from { query += "&from=\(from)" }
                if let to = bound.window.to { query += "&to=\(to)" }
                guard let search = try? ClusterRequest(JSON(query: query.utf8)) else { continue }
                let held = EventClusterSearch(search, snapshot).result()
                let inside = events.filter { Self.contains((search.box, bound.window), $0) }
                try #require(held.reduce(0) { $0 + $1.count } == inside.count, "\(query)")
                for cluster in held.prefix(20) {
                    let own = inside.filter { Self.contains((cluster.box, EventFilter()), $0) }
                    try #require(own.count == cluster.count, "\(query) \(cluster)")
                    #expect(own.map(\.details.coordinates.lat).min() == cluster.box.south)
                    #expect(own.map(\.details.coordinates.lon).max() == cluster.box.east)
                }
                clusters += held.count
            }
        }
        #expect(clusters > 1_000)
    }
}

@Suite struct `The cells of a map's view` {
    private static let world = DegreeBox(south: -90, west: -180, north: 90, east: 180)

    @Test func `the whole Earth has 16 cells at zoom 0, with the equator and the prime meridian between them`() throws {
        let grid = try #require(TileGrid(Self.world, zoom: 0, maximumCells: 4_096))
        #expect(grid.latitudes.count == 3)
        #expect(grid.latitudes[1] == 0)
        #expect(abs(grid.latitudes[2] - 66.513_260_443) < 1e-6)
        #expect(grid.parts == [TileGrid.Part(box: Self.world, longitudes: [-90, 0, 90])])
        // At zoom 4 it has as many cells as a view may have.
        let most = try #require(TileGrid(Self.world, zoom: 4, maximumCells: ClusterRequest.maximumCells))
        #expect((most.latitudes.count + 1) * (most.parts[0].longitudes.count + 1) == ClusterRequest.maximumCells)
        for zoom in 5...22 { #expect(TileGrid(Self.world, zoom: zoom, maximumCells: ClusterRequest.maximumCells) == nil) }
    }

    @Test func `a view across the date line has two parts`() throws {
        let box = DegreeBox(south: -10, west: 170, north: 10, east: -170)
        let grid = try #require(TileGrid(box, zoom: 3, maximumCells: 4_096))
        #expect(grid.parts.map(\.box.west) == [170, -180])
        #expect(grid.parts.map(\.longitudes) == [[], []])
        #expect(try #require(TileGrid(box, zoom: 4, maximumCells: 4_096)).parts.map(\.longitudes) == [[174.375], [-174.375]])
    }

    @Test(arguments: 0...22) func `boundaries lie inside of the view, in order, and a small view has few cells`(zoom: Int) throws
    {
        var generator = SeededGenerator(seed: 35, zoom)
        for _ in 0..<200 {
            let place = Places.anywhere(using: &generator)
            let size = 360 / Double(4 << zoom) * 10
            let box = DegreeBox(
                south: max(-90, place.lat - size), west: max(-180, place.lon - size), north: min(90, place.lat + size),
                east: min(180, place.lon + size))
            guard let grid = TileGrid(box, zoom: zoom, maximumCells: 4_096) else { continue }
            try #require(grid.latitudes.allSatisfy { box.south < $0 && $0 < box.north })
            try #require(zip(grid.latitudes, grid.latitudes.dropFirst()).allSatisfy { $0 < $1 })
            let longitudes = grid.parts[0].longitudes
            try #require(longitudes.allSatisfy { box.west < $0 && $0 < box.east })
            try #require(zip(longitudes, longitudes.dropFirst()).allSatisfy { $0 < $1 })
            try #require((longitudes.count + 1) <= 21)
        }
    }
}

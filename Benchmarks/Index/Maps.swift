internal import Encoding
internal import Events
internal import Foundation
internal import SpatialIndex

/// Searches in windows and boxes, and clusters. The window keeps the events from now on: one in a hundred.
struct Maps {
    private static let earth = DegreeBox(south: -90, west: -180, north: 90, east: 180)
    private static let views = [
        ("the whole Earth", earth), ("half of the Earth", DegreeBox(south: -90, west: 0, north: 90, east: 180)),
        ("Europe", DegreeBox(south: 36, west: -10, north: 60, east: 30)),
        ("Germany", DegreeBox(south: 47, west: 6, north: 55, east: 15)),
        ("Berlin", DegreeBox(south: 52.3, west: 13, north: 52.7, east: 13.8)),
        ("across the date line", DegreeBox(south: -60, west: 150, north: 60, east: -100)),
    ]
    /// As many as the server's `LongSearches` takes.
    private static let visitsOfPart = 250

    let index: PointIndex
    let centres: [Coordinates]
    let seconds: Double

    private var snapshot: PointIndex.Snapshot { index.snapshot }
    private var windows: [(name: String, window: ClosedRange<Int64>?)] {
        [("of any time", nil), ("from now on", ClusteredWorld.now.milliseconds...Int64.max)]
    }

    func measure() {
        measureNearest()
        measureParts()
        print("clusters of the whole Earth:")
        for zoom in 0...4 {
            for (name, window) in windows {
                let query = clusters(zoom: zoom, window)
                rate("zoom \(zoom), \(name)") { _ in snapshot.search(query).result().reduce(0) { $0 + $1.count } }
            }
        }
        print("pages of boxes, in the order of ids:")
        for (view, box) in Self.views {
            for limit in [100, 1_000] {
                for (name, window) in windows {
                    rate("\(view), \(limit), \(name)") { _ in
                        snapshot.search(BoxQuery(box: box, window: window, limit: limit)).result().count
                    }
                }
            }
        }
    }

    func measureWords() {
        print("searches with a word:")
        let view = view(of: 50_000)
        for (name, word) in [("of one event in 1,000", " ches"), ("that no event has", " zither"), ("of every event", " mark")] {
            let words = PointIndex.WordQuery(beginnings: Array(word.utf8))
            rate("nearest 20, \(name)", hasTail: true) { count in
                let centre = centres[count % centres.count]
                let query = NearestQuery(
                    centre: UnitVector(latitude: centre.lat, longitude: centre.lon), limit: 20, words: words)
                return snapshot.search(query).result().count
            }
            rate("page of 1,000 of a view of 50,000, \(name)", hasTail: true) { _ in
                snapshot.search(BoxQuery(box: view, limit: 1_000, words: words)).result().count
            }
            let query = clusters(zoom: 4, nil, words)
            rate("clusters of the whole Earth, \(name)", hasTail: true) { _ in
                snapshot.search(query).result().reduce(0) { $0 + $1.count }
            }
        }
    }

    /// A box around a place with at least that number of events, or with the whole Earth.
    private func view(of events: Int) -> DegreeBox {
        let centre = centres[0]
        return stride(from: 0.1, to: 180, by: 0.1).lazy.map { reach in
            DegreeBox(
                south: max(-90, centre.lat - reach), west: max(-180, centre.lon - reach), north: min(90, centre.lat + reach),
                east: min(180, centre.lon + reach))
        }
        .first { box in
            let query = ClusterQuery(box: box, latitudes: [], longitudes: [])
            return snapshot.search(query).result().reduce(0) { $0 + $1.count } >= events
        } ?? Self.earth
    }

    /// Each search without the window and with it in turn, because the speed of a machine varies from minute to minute.
    private func measureNearest() {
        print("nearest 100 in a window:")
        for radius in [25.0, 1_000, 50_000] {
            for _ in 1...3 {
                for (name, window) in windows {
                    rate("\(Int(radius)) km, \(name)") { count in
                        let query = NearestQuery(
                            around: centres[count % centres.count], kilometres: radius, window: window, limit: 100)
                        return snapshot.search(query).result().count
                    }
                }
            }
        }
    }

    /// The parts of the longest searches, which an event loop or a task carries out at a time.
    private func measureParts() {
        print("parts of searches of the whole Earth, µs of processor time:")
        let moment = Timestamp(milliseconds: ClusteredWorld.now.milliseconds + 86_400_000)
        let windows: [(String, ClosedRange<Int64>?)] = [
            ("of any time", nil), ("of a millisecond", moment.milliseconds...moment.milliseconds),
        ]
        for (name, window) in windows {
            parts("nearest 1,000, \(name)") { number in
                let centre = centres[number % centres.count]
                return snapshot.search(
                    NearestQuery(
                        centre: UnitVector(latitude: centre.lat, longitude: centre.lon), window: window, limit: 1_000))
            }
            parts("box, page of 1,000, \(name)") { _ in
                snapshot.search(BoxQuery(box: Self.earth, window: window, limit: 1_000))
            }
            let degrees = (1..<64).map { Double($0) * 180 / 64 - 90 }
            parts("clusters in 4,096 cells, \(name)") { _ in
                snapshot.search(
                    ClusterQuery(box: Self.earth, window: window, latitudes: degrees, longitudes: degrees.map { 2 * $0 }))
            }
        }
    }

    private func parts<Search: PointSearch>(_ name: String, _ search: (Int) -> Search) {
        var times: [Double] = []
        for number in 0..<20 {
            var search = search(number)
            var result: Search.Result?
            while result == nil {
                let clock = ThreadClock()
                result = search.part(visits: Self.visitsOfPart)
                times.append(clock.seconds * 1e6)
            }
        }
        times.sort()
        let some = [50, 99, 100].map { Int(times[min(times.count * $0 / 100, times.count - 1)]) }
        print("  \(name): \(times.count / 20) parts, median \(some[0]), p99 \(some[1]), longest \(some[2])")
    }

    /// The whole Earth in cells of 64 x 64 pixels of the Web Mercator projection, as the API cuts a view.
    private func clusters(
        zoom: Int, _ window: ClosedRange<Int64>?, _ words: PointIndex.WordQuery? = nil
    ) -> ClusterQuery {
        let side = Double(4 << zoom)
        let edges = (1..<4 << zoom).map { Double($0) / side }
        return ClusterQuery(
            box: Self.earth, window: window, latitudes: edges.map { atan(sinh(.pi * (2 * $0 - 1))) * 180 / .pi },
            longitudes: edges.map { 360 * $0 - 180 }, words: words)
    }

    /// - Parameters:
    ///   - hasTail: whether each search is timed by itself, which takes 0.5 µs, and the 99th percentile is printed
    ///   - search: gets a number that grows, and returns the number of events
    private func rate(_ name: String, hasTail: Bool = false, _ search: (Int) -> Int) {
        var (count, found, times) = (0, 0, [Double]())
        let clock = ThreadClock()
        while clock.seconds < seconds / 4 {
            for _ in 0..<4 {
                let each = hasTail ? ThreadClock() : nil
                found += search(count)
                if let each { times.append(each.seconds * 1e6) }
                count += 1
            }
        }
        let elapsed = clock.seconds
        let microseconds = (elapsed / Double(count) * 1e6).rounded(1)
        let tail = hasTail ? ", p99 \(times.sorted()[times.count * 99 / 100].rounded(1)) µs" : ""
        print("  \(name): \((Double(count) / elapsed).rounded(0)) a second, \(microseconds) µs\(tail), \(found / count) events")
    }
}

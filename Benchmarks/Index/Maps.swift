internal import Encoding
internal import Events
internal import Foundation
internal import SpatialIndex

/// Searches in windows and boxes, and clusters. The window keeps the events from now on: one in a hundred.
struct Maps {
    private static let views = [
        ("the whole Earth", "-180,-90,180,90"), ("half of the Earth", "0,-90,180,90"), ("Europe", "-10,36,30,60"),
        ("Germany", "6,47,15,55"), ("Berlin", "13,52.3,13.8,52.7"), ("across the date line", "150,-60,-100,60"),
    ]

    let index: EventIndex
    let centres: [Coordinates]
    let seconds: Double

    private var snapshot: EventIndex.Snapshot { index.snapshot }
    private var windows: [(name: String, window: TimeWindow)] {
        [("of any time", TimeWindow()), ("from now on", TimeWindow(from: ClusteredWorld.now))]
    }

    func measure() {
        measureNearest()
        measureParts()
        print("clusters of the whole Earth:")
        for zoom in 0...4 {
            for (name, window) in windows {
                rate("zoom \(zoom), \(name)") { _ in
                    clusters("-180,-90,180,90", zoom: zoom, window)?.reduce(0) { $0 + $1.count } ?? 0
                }
            }
        }
        print("pages of boxes, in the order of ids:")
        for (view, box) in Self.views {
            for limit in [100, 1_000] {
                for (name, window) in windows {
                    rate("\(view), \(limit), \(name)") { _ in events(box, limit: limit, window) }
                }
            }
        }
    }

    /// Each search without the window and with it in turn, because the speed of a machine varies from minute to minute.
    private func measureNearest() {
        print("nearest 100 in a window:")
        for radius in [25.0, 1_000, 50_000] {
            for _ in 1...3 {
                for (name, window) in windows {
                    rate("\(Int(radius)) km, \(name)") { count in
                        let centre = centres[count % centres.count]
                        return snapshot.search(NearbySearch(centre: centre, radius: radius, window: window, limit: 100)).result()
                            .count
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
            let earth = DegreeBox(south: -90, west: -180, north: 90, east: 180)
            parts("box, page of 1,000, \(name)") { _ in snapshot.search(BoxQuery(box: earth, window: window, limit: 1_000)) }
            let degrees = (1..<64).map { Double($0) * 180 / 64 - 90 }
            parts("clusters in 4,096 cells, \(name)") { _ in
                snapshot.search(
                    ClusterQuery(box: earth, window: window, latitudes: degrees, longitudes: degrees.map { 2 * $0 }))
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
                result = search.part(visits: LongSearches.visitsOfPart)
                times.append(clock.seconds * 1e6)
            }
        }
        times.sort()
        let some = [50, 99, 100].map { Int(times[min(times.count * $0 / 100, times.count - 1)]) }
        print("  \(name): \(times.count / 20) parts, median \(some[0]), p99 \(some[1]), longest \(some[2])")
    }

    private func clusters(_ box: String, zoom: Int, _ window: TimeWindow) -> [EventCluster]? {
        let query = "bbox=\(box)&zoom=\(zoom)" + (window.from.map { "&from=\($0)" } ?? "")
        guard let json = try? JSON(query: query.utf8), let search = try? ClusterSearch(json) else { return nil }
        return EventClusterSearch(search, snapshot).result()
    }

    private func events(_ box: String, limit: Int, _ window: TimeWindow) -> Int {
        let degrees = box.split(separator: ",").compactMap { Double($0) }
        let box = DegreeBox(south: degrees[1], west: degrees[0], north: degrees[3], east: degrees[2])
        return snapshot.search(BoxSearch(box: box, window: window, limit: limit)).result().count
    }

    /// - Parameter search: gets a number that grows, and returns the number of events
    private func rate(_ name: String, _ search: (Int) -> Int) {
        var (count, found) = (0, 0)
        let clock = ThreadClock()
        while clock.seconds < seconds / 4 {
            for _ in 0..<4 {
                found += search(count)
                count += 1
            }
        }
        let elapsed = clock.seconds
        let microseconds = (elapsed / Double(count) * 1e6).rounded(1)
        print("  \(name): \((Double(count) / elapsed).rounded(0)) a second, \(microseconds) µs, \(found / count) events")
    }
}

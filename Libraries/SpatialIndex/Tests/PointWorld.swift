import Foundation
import TestChance

@testable import SpatialIndex

/// Points as a test expects them, at places where searches fail first: crowds, the date line, the poles.
struct PointWorld {
    enum Spread: CaseIterable {
        case uniform, clustered, dateLine, poles, fewCursors
    }

    struct Held: Hashable {
        var tag: Int64
        var version: Int32
        var location: PointIndex.Location
        /// Each behind a space.
        var words = ""

        var vector: UnitVector { location.vector }

        var note: UInt64 { UInt64(bitPattern: tag) &* 3 }

        var payload: String { "version \(version) at \(vector.x) \(vector.y) \(vector.z)" }
    }

    let spread: Spread
    private(set) var points: [Int64: Held] = [:]
    /// The words of which points have some; none by default.
    var vocabulary: [String] = []
    var generator: SeededGenerator
    private let cities: [(latitude: Double, longitude: Double)]

    init(_ spread: Spread, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        cities = (0..<5).map { _ in Self.anywhere(using: &generator) }
        self.spread = spread
        self.generator = generator
    }

    mutating func place() -> UnitVector { location().vector }

    mutating func location() -> PointIndex.Location {
        var location = somewhere()
        location.span = span()
        return location
    }

    /// Most spans are moments or short, and many share an end.
    mutating func span() -> ClosedRange<Int64> {
        let start = Int64.random(in: -50...50, using: &generator)
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: return .min ... .max
        case 1: return start...start + Int64.random(in: 0...1_000, using: &generator)
        case 2, 3: return start...start
        case _: return start...start + Int64.random(in: 0...5, using: &generator)
        }
    }

    private mutating func somewhere() -> PointIndex.Location {
        let little = pow(10, Double.random(in: -9...0, using: &generator))
        let anywhere = Self.anywhere(using: &generator)
        let sign = Bool.random(using: &generator) ? 1.0 : -1.0
        let city = cities[Int.random(in: 0..<cities.count, using: &generator)]
        switch spread {
        case .uniform: return PointIndex.Location(latitude: anywhere.latitude, longitude: anywhere.longitude)
        case .clustered:
            let bearing = Double.random(in: 0..<2 * .pi, using: &generator)
            // At most 20 km away.
            return PointIndex.Location(
                latitude: min(max(-90, city.latitude + little * 0.18 * cos(bearing)), 90),
                longitude: city.longitude + little * 0.18 * sin(bearing))
        case .dateLine:
            return PointIndex.Location(
                latitude: little * 10, longitude: sign * (Bool.random(using: &generator) ? 180 : 180 - little))
        case .poles:
            return PointIndex.Location(
                latitude: sign * (Bool.random(using: &generator) ? 90 : 90 - little), longitude: anywhere.longitude)
        case .fewCursors: return PointIndex.Location(latitude: city.latitude, longitude: city.longitude)
        }
    }

    /// Uniform on the sphere, in degrees.
    private static func anywhere(using generator: inout SeededGenerator) -> (latitude: Double, longitude: Double) {
        let latitude = asin(Double.random(in: -1...1, using: &generator)) * 180 / .pi
        return (latitude, Double.random(in: -180...180, using: &generator))
    }

    /// A radius in kilometres on the Earth: 0, small, large, a quarter of the Earth, half of it, and more than the Earth has.
    mutating func radius() -> Double {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: 0
        case 1: .random(in: 9_900...10_100, using: &generator)
        case 2: .random(in: 19_900...20_100, using: &generator)
        case 3: 50_000
        default: pow(10, .random(in: -3...4, using: &generator))
        }
    }

    /// Draws changes of points with ids up to a limit, applies them to the expected points, and returns them as a batch.
    mutating func batch(of count: Int, ids: Int64, removalPercent: Int = 20) -> PointIndex.Batch {
        var batch = PointIndex.Batch()
        for _ in 0..<count {
            let id = Int64.random(in: 1...ids, using: &generator)
            if generator.happens(inPercent: removalPercent) {
                batch.remove(id)
                points[id] = nil
            } else {
                // Every third point keeps its place.
                let location = id % 3 == 0 ? points[id]?.location ?? location() : location()
                let tag = Int64.random(in: .min ... .max, using: &generator)
                let held = Held(tag: tag, version: (points[id]?.version ?? 0) + 1, location: location, words: words())
                batch.put(id, held)
                points[id] = held
            }
        }
        return batch
    }

    /// All expected points.
    var bulkLoad: PointIndex.BulkLoad {
        var batch = PointIndex.Batch()
        for (id, held) in points { batch.put(id, held) }
        var bulkLoad = PointIndex.BulkLoad()
        bulkLoad.put(batch)
        return bulkLoad
    }

    private mutating func words() -> String {
        guard !vocabulary.isEmpty else { return "" }
        return (0..<Int.random(in: 0...4, using: &generator)).reduce("") { words, _ in
            words + " " + vocabulary[Int.random(in: 0..<vocabulary.count, using: &generator)]
        }
    }

    /// The cursors of all points within a radius in kilometres, nearest first, by brute force.
    func everyone(within radius: Double, of centre: UnitVector) -> [NearestQuery.Cursor] {
        let bound = UnitVector.squaredChord(kilometres: radius)
        return points.map { id, held in
            NearestQuery.Cursor(squaredChord: held.vector.squaredChord(to: centre), id: id)
        }
        .filter { $0.squaredChord <= bound }
        .sorted { ($0.squaredChord, $0.id) < ($1.squaredChord, $1.id) }
    }
}

extension PointIndex.Batch {
    mutating func put(_ id: Int64, _ held: PointWorld.Held) {
        put(
            id, tag: held.tag, note: held.note, version: held.version, at: held.location, payload: held.payload.utf8,
            words: Array(held.words.utf8))
    }
}

extension PointIndex.Page {
    var ids: [Int64] { (0..<count).map { self[$0].id } }

    var texts: [String] {
        var texts: [String] = []
        forEachPayload { payload in texts.append(payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }) }
        return texts
    }
}

extension PointIndex.Entry {
    var text: String { String(decoding: payload, as: UTF8.self) }
}

extension UnitVector {
    /// The squared chord of a distance on the surface of the Earth.
    static func squaredChord(kilometres: Double) -> Double { squaredChord(angle: kilometres / 6_371.0088) }
}

extension NearestQuery {
    /// - Parameter radius: in kilometres on the Earth
    init(centre: UnitVector, radius: Double = 20, limit: Int = 1_000, after: Cursor? = nil) {
        self.init(
            centre: centre, squaredChord: UnitVector.squaredChord(kilometres: radius), limit: limit, after: after)
    }
}

internal import Encoding
internal import Events
internal import Foundation
internal import HTTP
internal import SpatialIndex
internal import Users

/// Events around the demo's cities, with the clusters and the sizes of the demo's events.
struct ClusteredWorld: Sendable {
    /// An event as the index holds it.
    struct Gathering {
        var id: Int64
        var owner: Int64
        var location: PointIndex.Location
        var json: [UInt8]
        var words: [UInt8]
    }

    private struct City {
        var lat: Double
        var lon: Double
    }

    private static let citySpreadKilometres = 6.0
    private static let kilometresPerDegree = 111.195

    private let texts: [EventText: String]
    private let places: [City]
    private let weights: [Double]
    private var generator: SeededGenerator
    /// Whether events have words, about as many as those of their names and addresses.
    var hasWords = false

    var cities: Int { places.count }

    /// - Parameter hasTexts: whether each event has a category and a time zone
    init(seed: UInt64, hasTexts: Bool = false) throws {
        texts = hasTexts ? [.category: "games", .timeZone: "America/New_York"] : [:]
        generator = SeededGenerator(seed: seed)
        let lines = try String(contentsOfFile: "Sources/App/Demo/cities.tsv", encoding: .utf8).split(separator: "\n")
        var (places, weights, sum) = ([City](), [Double](), 0.0)
        for line in lines {
            let fields = line.split(separator: "\t")
            guard fields.count == 5, let lat = Double(fields[2]), let lon = Double(fields[3]), let people = Double(fields[4])
            else {
                continue
            }
            sum += people.squareRoot()
            places.append(City(lat: lat, lon: lon))
            weights.append(sum)
        }
        (self.places, self.weights) = (places, weights)
    }

    mutating func place() -> Coordinates {
        let mark = Double.random(in: 0..<(weights.last ?? 1), using: &generator)
        let city = places[weights.firstIndex { $0 > mark } ?? 0]
        let spread = Self.citySpreadKilometres / Self.kilometresPerDegree
        let lat = city.lat + normal() * spread
        let lon = city.lon + normal() * spread / cos(city.lat * .pi / 180)
        return Coordinates(
            lat: (min(max(lat, -90), 90) * 1e6).rounded() / 1e6, lon: (min(max(lon, -180), 180) * 1e6).rounded() / 1e6)
    }

    mutating func put(_ id: Int64, version: Int32, in batch: inout PointIndex.Batch) {
        let event = gathering(id)
        batch.put(id, tag: event.owner, version: version, at: event.location, payload: event.json, words: event.words)
    }

    mutating func gathering(_ id: Int64) -> Gathering {
        let event = event(id)
        var json: [UInt8] = []
        event.writeJSON(into: &json)
        let (place, start) = (event.details.coordinates, event.details.startedAt.milliseconds)
        let location = PointIndex.Location(
            latitude: place.lat, longitude: place.lon, span: start...start + Self.lengthMilliseconds)
        return Gathering(id: id, owner: event.owner.rawValue, location: location, json: json, words: hasWords ? words(event) : [])
    }

    /// One event in 1,000 is of chess, and the others are of 20,000 other games.
    private func words(_ event: Event) -> [UInt8] {
        var generator = SeededGenerator(seed: UInt64(bitPattern: event.id.rawValue))
        let game = generator.next() % 20_000_000
        let name = game % 1_000 == 0 ? "Chess" : UInt32(truncatingIfNeeded: game / 1_000 &* 0x9E37_79B1).letters
        return FoldedWords("\(name) evening", event.details.address ?? "").utf8
    }

    mutating func event(_ id: Int64) -> Event {
        let start = Self.start(id)
        var details = EventDetails(name: "Board games evening", coordinates: place(), startedAt: start)
        details.address = "\(id % 180) Market Street, Springfield"
        details.endedAt = Timestamp(milliseconds: start.milliseconds + Self.lengthMilliseconds)
        details.texts = texts
        return Event(id: EventID(rawValue: id), owner: UserID(rawValue: id % 10_000), version: 1, details: details)
    }

    /// 99 % of the events have ended at this time.
    static let now = Timestamp(milliseconds: 1_915_574_400_000)
    private static let lengthMilliseconds: Int64 = 2 * 3_600_000
    private static let daysAround: UInt64 = 365

    /// In the year before or after ``now``, always the same for an id.
    private static func start(_ id: Int64) -> Timestamp {
        var generator = SeededGenerator(seed: UInt64(bitPattern: id))
        let days = Int64(generator.next() % daysAround) * 86_400_000
        let isAhead = generator.happens(inPercent: 1)
        return Timestamp(milliseconds: now.milliseconds + (isAhead ? days : -days - lengthMilliseconds - 1))
    }

    /// Standard normal. Source: Box and Muller, 1958.
    private mutating func normal() -> Double {
        let first = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)
        let second = Double.random(in: 0..<1, using: &generator)
        return (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
    }
}

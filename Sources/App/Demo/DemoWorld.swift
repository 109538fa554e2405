internal import Encoding
internal import Events
internal import Foundation
internal import Users

/// Plausible gatherings around the world's cities; the same seed gives the same gatherings.
struct DemoWorld: Sendable {
    struct Gathering: Sendable {
        var name: String
        var address: String
        var coordinates: Coordinates
        var startedAt: Timestamp
        var endedAt: Timestamp
        /// The number of the host, taken modulo the number of hosts.
        var host: Int
        var attendees: Int
        /// Whether the host cancels the event.
        var isCancelled: Bool
    }

    /// One gathering in this many is cancelled.
    private static let cancelledOneIn = 100

    private static let kinds = [
        "Chess in the park", "Jazz night", "Street food market", "Morning run", "Book club", "Salsa for beginners",
        "Open-air cinema",
        "Board games evening", "Flea market", "Poetry slam", "Yoga at sunrise", "Swift meetup", "Repair café", "Choir rehearsal",
        "Football in the yard", "Language exchange", "Wine tasting", "Climbing together", "Drawing from life",
        "Neighbourhood dinner",
    ]
    private static let streets = [
        "Market Street", "Station Road", "Park Lane", "Mill Street", "Bridge Street", "Garden Row", "Harbour Walk", "School Lane",
        "Church Street", "Queen Street", "Long Street", "River Road",
    ]
    /// Kilometres; most gatherings are closer to the middle of their city.
    private static let citySpread = 6.0
    private static let kilometresPerDegree = 111.195

    private var generator: SplitMix64
    /// The number of gatherings so far.
    private var count = 0
    private let start: Timestamp
    private let cities: [City]
    /// Sums of the square roots of the populations: large cities have more gatherings, but not in proportion.
    private let weights: [Double]

    init(seed: UInt64, start: Timestamp) {
        generator = SplitMix64(state: seed)
        self.start = start
        cities = City.all
        var sum = 0.0
        weights = cities.map { city in
            sum += Double(city.population).squareRoot()
            return sum
        }
    }

    /// One host for a hundred events.
    func hosts(forEvents count: Int) -> Int { max(1, count / 100) }

    mutating func gathering() -> Gathering {
        count += 1
        let mark = Double.random(in: 0..<(weights.last ?? 1), using: &generator)
        let city = cities[weights.firstIndex { $0 > mark } ?? 0]
        let north = normal() * Self.citySpread / Self.kilometresPerDegree
        let east = normal() * Self.citySpread / Self.kilometresPerDegree / cos(city.lat * .pi / 180)
        let minutes = Int64.random(in: 0..<30 * 24 * 4, using: &generator) * 15
        let startedAt = Timestamp(milliseconds: (start.milliseconds / 900_000 + 4) * 900_000 + minutes * 60_000)
        let kind = Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &generator)]
        let street = Self.streets[Int.random(in: 0..<Self.streets.count, using: &generator)]
        return Gathering(
            name: kind,
            address: "\(Int.random(in: 1...180, using: &generator)) \(street), \(city.name)",
            coordinates: Coordinates(
                lat: rounded(min(max(city.lat + north, -90), 90)),
                lon: rounded(min(max(city.lon + east, -180), 180))
            ),
            startedAt: startedAt,
            endedAt: Timestamp(milliseconds: startedAt.milliseconds + Int64.random(in: 2...8, using: &generator) * 1_800_000),
            host: Int.random(in: 0..<1_000_000, using: &generator),
            attendees: Int.random(in: 0...2, using: &generator),
            isCancelled: count.isMultiple(of: Self.cancelledOneIn)
        )
    }

    /// Rounds to six decimals, as phones send them: 0.1 m.
    private func rounded(_ degrees: Double) -> Double { (degrees * 1e6).rounded() / 1e6 }

    /// Standard normal. Source: Box and Muller, 1958.
    private mutating func normal() -> Double {
        let first = Double.random(in: Double.leastNonzeroMagnitude..<1, using: &generator)
        let second = Double.random(in: 0..<1, using: &generator)
        return (-2 * log(first)).squareRoot() * cos(2 * .pi * second)
    }
}

/// A line of `cities.tsv`. The head of that file names its source and licence.
struct City: Sendable, Hashable {
    var name: String
    var lat: Double
    var lon: Double
    var population: Int

    static let all: [City] = String(decoding: PackageResources.cities_tsv, as: UTF8.self).split(separator: "\n").compactMap {
        line in
        let fields = line.split(separator: "\t")
        guard fields.count == 5, let lat = Double(fields[2]), let lon = Double(fields[3]), let population = Int(fields[4]) else {
            return nil
        }
        return City(name: String(fields[0]), lat: lat, lon: lon, population: population)
    }
}

/// Source: Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, 2014.
struct SplitMix64: RandomNumberGenerator, Sendable {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var value = state
        value = (value ^ (value >> 30)) &* 0xBF58_476D_1CE4_E5B9
        value = (value ^ (value >> 27)) &* 0x94D0_49BB_1331_11EB
        return value ^ (value >> 31)
    }
}

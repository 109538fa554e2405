internal import Encoding
internal import Events
internal import Foundation
internal import Users
internal import Web

/// Plausible gatherings around the world's cities, in the past and in the future. The same seed and start give the same gatherings.
struct DemoWorld: Sendable {
    /// The host is a number, taken modulo the number of hosts.
    typealias Gathering = (details: EventDetails, host: Int, attendees: Int)

    /// What people do, the local hours in which such a gathering begins, its category, and what some hosts write about it.
    typealias Kind = (name: String, hours: Range<Int>, category: String, about: String)

    static let kinds: [Kind] = [
        ("Chess in the park", 13..<19, "games", "Boards and clocks are there. Beginners find somebody who explains the rules."),
        ("Jazz night", 19..<22, "music", "Two sets, a break, then an open session.\nBring your instrument."),
        ("Street food market", 11..<18, "food", "Thirty stalls, a stage, and tables under the trees.\nMost stalls take cards."),
        ("Morning run", 6..<9, "sport", "Five kilometres at a pace at which one can talk. We wait for everyone."),
        ("Book club", 18..<21, "learning", "We talk about the first half, so nobody must know the end."),
        ("Salsa for beginners", 18..<21, "stage", "No partner and no experience needed. Wear shoes that turn."),
        ("Open-air cinema", 20..<23, "film", "We begin when it is dark. With subtitles.\nIn rain we move indoors."),
        ("Board games evening", 18..<21, "games", "A shelf of 200 games, and hosts who know them."),
        ("Flea market", 8..<14, "market", "Tables are free for neighbours: come half an hour early."),
        ("Poetry slam", 19..<22, "stage", "Five minutes each, no props. The audience decides."),
        ("Yoga at sunrise", 5..<8, "sport", "Mats are there. It is cold at first."),
        ("Swift meetup", 18..<20, "learning", "Two talks of twenty minutes, then pizza. Talks are in English."),
        ("Repair café", 10..<17, "community", "Bring what is broken and can be carried. We repair it together."),
        ("Choir rehearsal", 18..<21, "music", "All voices, tenors above all. Nobody auditions."),
        ("Football in the yard", 15..<20, "sport", "Two goals, mixed teams, all ages."),
        ("Language exchange", 17..<21, "learning", "Half an hour in yours, half an hour in mine."),
        ("Wine tasting", 18..<21, "food", "Six wines of the region, and bread. From 18 years."),
        ("Climbing together", 9..<20, "outdoors", "Ropes and helmets are there. The approach takes half an hour."),
        ("Drawing from life", 17..<21, "art", "Short poses, then a long one. Paper and easels are there."),
        ("Neighbourhood dinner", 18..<21, "community", "Everyone brings a dish. Children play in the yard."),
    ]
    private static let streets = [
        "Market Street", "Station Road", "Park Lane", "Mill Street", "Bridge Street", "Garden Row", "Harbour Walk", "School Lane",
        "Church Street", "Queen Street", "Long Street", "River Road",
    ]
    /// Days from the start of the demo in which gatherings begin, and how many of 100 begin in them. Today and the next days have the
    /// most, so that a map of a short time is not empty.
    private static let periods: [(days: Range<Int>, percent: Int)] = [
        (days: -30..<0, percent: 30), (days: 0..<1, percent: 15), (days: 1..<7, percent: 25), (days: 7..<60, percent: 30),
    ]
    private static let quarterHour: Int64 = 900_000
    private static let quarterHoursPerDay = 96
    /// The percentage of gatherings that last some days, such as a festival, and the percentage without an end.
    private static let (percentOfDays, percentOpen) = (5, 15)
    /// Kilometres; most gatherings are closer to the middle of their city.
    private static let citySpread = 6.0
    private static let kilometresPerDegree = 111.195

    private var generator: SplitMix64
    private let start: Timestamp
    private let hasTexts: Bool
    private let cities: [City]
    /// Sums of the square roots of the populations: large cities have more gatherings, but not in proportion.
    private let weights: [Double]

    init(seed: UInt64, start: Timestamp, hasTexts: Bool = true) {
        generator = SplitMix64(state: seed)
        self.start = start
        self.hasTexts = hasTexts
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
        let mark = Double.random(in: 0..<(weights.last ?? 1), using: &generator)
        let city = cities[weights.firstIndex { $0 > mark } ?? 0]
        let north = normal() * Self.citySpread / Self.kilometresPerDegree
        let east = normal() * Self.citySpread / Self.kilometresPerDegree / cos(city.lat * .pi / 180)
        let kind = Self.kinds[Int.random(in: 0..<Self.kinds.count, using: &generator)]
        let startedAt = time(hours: kind.hours, lon: city.lon)
        let street = Self.streets[Int.random(in: 0..<Self.streets.count, using: &generator)]
        let place = Coordinates(
            lat: rounded(min(max(city.lat + north, -90), 90)), lon: rounded(min(max(city.lon + east, -180), 180)))
        var details = EventDetails(name: kind.name, coordinates: place, startedAt: startedAt)
        details.address = "\(Int.random(in: 1...180, using: &generator)) \(street), \(city.name)"
        details.endedAt = end(of: startedAt)
        let host = Int.random(in: 0..<1_000_000, using: &generator)
        if hasTexts { details.texts = Self.texts(of: kind, in: city, by: host) }
        return (details, host, Int.random(in: 0...2, using: &generator))
    }

    /// Two hosts of five write about their gatherings, and one of them names a page. No random number, so that those behind it stay.
    private static func texts(of kind: Kind, in city: City, by host: Int) -> [EventText: String] {
        var texts: [EventText: String] = [.category: kind.category]
        texts[.timeZone] = city.timeZone
        if host % 5 < 2 { texts[.description] = kind.about }
        if host % 5 == 0 { texts[.link] = "https://example.org/gatherings/\(host)" }
        return texts
    }

    /// The start of a gathering, at a quarter of an hour in the local hours. The sun's time stands in for the clocks of a place.
    private mutating func time(hours: Range<Int>, lon: Double) -> Timestamp {
        var percent = Int.random(in: 0..<100, using: &generator)
        var days = 0..<1
        for period in Self.periods {
            days = period.days
            percent -= period.percent
            if percent < 0 { break }
        }
        let day = Int.random(in: days, using: &generator)
        let timeOfDay = Int.random(in: hours.lowerBound * 4..<hours.upperBound * 4, using: &generator)
        let first = Int(start.milliseconds / Self.quarterHour) + day * Self.quarterHoursPerDay
        let offset = Int((lon / 360 * Double(Self.quarterHoursPerDay)).rounded())
        // The one quarter of an hour of this day with that local time: a remainder that is not negative.
        let wait = (timeOfDay - first - offset) % Self.quarterHoursPerDay
        let quarters = first + (wait < 0 ? wait + Self.quarterHoursPerDay : wait)
        return Timestamp(milliseconds: Int64(quarters) * Self.quarterHour)
    }

    private mutating func end(of startedAt: Timestamp) -> Timestamp? {
        let percent = Int.random(in: 0..<100, using: &generator)
        // One to four hours, or two to ten days. Taken in every case, so that the numbers behind it do not depend on the percentage.
        let (halfHours, days) = (Int.random(in: 2...8, using: &generator), Int.random(in: 2...10, using: &generator))
        if percent < Self.percentOpen { return nil }
        let quarters = percent < Self.percentOpen + Self.percentOfDays ? days * Self.quarterHoursPerDay : halfHours * 2
        return Timestamp(milliseconds: startedAt.milliseconds + Int64(quarters) * Self.quarterHour)
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
    /// The time zone that has its name from a place in the city, such as `Europe/Berlin`; `nil` for most cities.
    var timeZone: String?

    /// Degrees between the middles of a city and of the place of its time zone, at most.
    private static let zoneDegrees = 0.2

    static let all: [City] = {
        let zones = MapPage.zones.split(separator: "\n").compactMap { line -> (lat: Double, lon: Double, name: String)? in
            let fields = line.split(separator: "\t")
            guard fields.count == 3, let lat = Double(fields[0]), let lon = Double(fields[1]) else { return nil }
            return (lat, lon, String(fields[2].prefix { $0 != " " }))
        }
        return MapPage.cities.split(separator: "\n").compactMap { line in
            let fields = line.split(separator: "\t")
            guard fields.count == 5, let lat = Double(fields[2]), let lon = Double(fields[3]), let population = Int(fields[4])
            else { return nil }
            let zone = zones.first { abs($0.lat - lat) < Self.zoneDegrees && abs($0.lon - lon) < Self.zoneDegrees }
            return City(name: String(fields[0]), lat: lat, lon: lon, population: population, timeZone: zone?.name)
        }
    }()
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

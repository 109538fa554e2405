import Foundation
import TestChance
import Users

@testable import Events

/// Events as a test knows them to be, and places for them where searches go wrong first.
struct IndexWorld {
    enum Spread: CaseIterable {
        case uniform, clustered, dateLine, poles, fewCursors
    }

    struct Held: Hashable {
        var owner: UserID
        var version: Int32
        var coordinates: Coordinates

        var json: String { #"{"version":\#(version),"lat":\#(coordinates.lat),"lon":\#(coordinates.lon)}"# }
    }

    let spread: Spread
    private(set) var events: [Int64: Held] = [:]
    var generator: SeededGenerator
    private let cities: [Coordinates]

    init(_ spread: Spread, seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        cities = (0..<5).map { _ in Places.anywhere(using: &generator) }
        self.spread = spread
        self.generator = generator
    }

    mutating func place() -> Coordinates {
        let little = pow(10, Double.random(in: -9...0, using: &generator))
        let anywhere = Places.anywhere(using: &generator)
        let sign = Bool.random(using: &generator) ? 1.0 : -1.0
        let city = cities[Int.random(in: 0..<cities.count, using: &generator)]
        switch spread {
        case .uniform: return anywhere
        case .clustered:
            let bearing = Double.random(in: 0..<360, using: &generator)
            return Places.from(city, kilometres: little * 20, bearing: bearing)
        case .dateLine: return Coordinates(lat: little * 10, lon: sign * (Bool.random(using: &generator) ? 180 : 180 - little))
        case .poles: return Coordinates(lat: sign * (Bool.random(using: &generator) ? 90 : 90 - little), lon: anywhere.lon)
        case .fewCursors: return city
        }
    }

    /// Kilometres: none, a little, some, half around the Earth, and more than there is.
    mutating func radius() -> Double {
        switch Int.random(in: 0..<8, using: &generator) {
        case 0: 0
        case 1: .random(in: 9_900...10_100, using: &generator)
        case 2: .random(in: 19_900...20_100, using: &generator)
        case 3: NearbySearch.radiusLimit
        default: pow(10, .random(in: -3...4, using: &generator))
        }
    }

    /// Draws changes of events with ids up to that one, puts them into a batch, and remembers them.
    mutating func batch(of count: Int, ids: Int64, removalPercent: Int = 20) -> EventIndex.Batch {
        var batch = EventIndex.Batch()
        for _ in 0..<count {
            let id = Int64.random(in: 1...ids, using: &generator)
            if generator.happens(inPercent: removalPercent) {
                batch.remove(EventID(rawValue: id))
                events[id] = nil
            } else {
                // Every third one stays where it was.
                let coordinates = id % 3 == 0 ? events[id]?.coordinates ?? place() : place()
                let owner = UserID(rawValue: .random(in: .min ... .max, using: &generator))
                let held = Held(owner: owner, version: (events[id]?.version ?? 0) + 1, coordinates: coordinates)
                let json = held.json.utf8
                batch.put(EventID(rawValue: id), owner: owner, version: held.version, coordinates: coordinates, json: json)
                events[id] = held
            }
        }
        return batch
    }

    /// All events as they stand.
    var bulkLoad: EventIndex.BulkLoad {
        events.reduce(into: EventIndex.BulkLoad()) { bulkLoad, event in
            let (id, held) = (EventID(rawValue: event.key), event.value)
            bulkLoad.put(
                id, owner: held.owner, version: held.version, coordinates: held.coordinates, json: held.json.utf8)
        }
    }

    /// The cursors of all events within the radius, nearest first, by a look at every one of them.
    func everyone(within radius: Double, of centre: Coordinates) -> [NearbySearch.Cursor] {
        let bound = Sphere.squaredChord(kilometres: radius)
        let centre = UnitVector(centre)
        return events.map { id, held in
            NearbySearch.Cursor(
                squaredChord: UnitVector(held.coordinates).squaredChord(to: centre), id: EventID(rawValue: id))
        }
        .filter { $0.squaredChord <= bound }
        .sorted { ($0.squaredChord, $0.id.rawValue) < ($1.squaredChord, $1.id.rawValue) }
    }
}

extension EventIndex.Page {
    var ids: [Int64] { (0..<count).map { self[$0].id.rawValue } }

    var texts: [String] {
        var texts: [String] = []
        forEachJSON { texts.append(String(decoding: $0, as: UTF8.self)) }
        return texts
    }
}

extension EventIndex.Entry {
    var text: String { withJSON { String(decoding: $0, as: UTF8.self) } }
}

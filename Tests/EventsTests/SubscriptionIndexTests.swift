import Encoding
import Foundation
import SpatialIndex
import TestChance
import Testing

@testable import Events

@Suite struct `The index of subscriptions` {
    private static func subscription(_ number: Int, _ area: EventArea) -> ChangeSubscription {
        ChangeSubscription(number, ChangeSearch(area: area), after: 0, sink: { _ in }) { _ in nil }
    }

    /// Small and large areas, also at the date line, at the poles and on the edges of cells.
    private static func area(using generator: inout SeededGenerator) -> EventArea {
        let size = pow(10, Double.random(in: -4...0, using: &generator))
        if Bool.random(using: &generator) {
            let centre = point(using: &generator)
            return .circle(centre: centre, radius: size * Double.random(in: 0...25_000, using: &generator))
        }
        let corner = point(using: &generator)
        let north = min(90, corner.lat + size * Double.random(in: 0...180, using: &generator))
        let east = corner.lon + size * Double.random(in: 0...360, using: &generator)
        return .box(DegreeBox(south: corner.lat, west: corner.lon, north: north, east: east > 180 ? max(east - 360, -180) : east))
    }

    private static func point(using generator: inout SeededGenerator) -> Coordinates {
        switch Int.random(in: 0..<6, using: &generator) {
        // On the edges of cells.
        case 0:
            Coordinates(
                lat: Double(Int.random(in: -8...8, using: &generator)) * 11.25,
                lon: Double(Int.random(in: -16...16, using: &generator)) * 11.25)
        case 1: Coordinates(lat: Bool.random(using: &generator) ? 90 : -90, lon: 0)
        case 2:
            Coordinates(
                lat: Double.random(in: -90...90, using: &generator),
                lon: (Bool.random(using: &generator) ? 1 : -1) * Double.random(in: 179.99...180, using: &generator))
        case _: Places.anywhere(using: &generator)
        }
    }

    @Test(arguments: 0..<4) func `the index finds the subscriptions that a scan of all finds`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        var (index, all): (SubscriptionIndex, [Int: ChangeSubscription]) = (SubscriptionIndex(), [:])
        for number in 0..<1_000 {
            let new = Self.subscription(number, Self.area(using: &generator))
            index.insert(new)
            all[number] = new
            if number % 3 == 0 {
                let old = Int.random(in: 0...number, using: &generator)
                #expect(index.remove(old)?.number == all.removeValue(forKey: old)?.number)
            }
        }
        #expect(index.count == all.count)
        var hits = 0
        for _ in 0..<1_000 {
            let point = Self.point(using: &generator)
            let place = EventPlace(coordinates: point, startedAt: .startOfPicnic, endsAt: .startOfPicnic)
            var found: [Int] = []
            index.forEach(near: point) { if $0.filter.shows(place) { found.append($0.number) } }
            let expected = all.values.filter { $0.filter.shows(place) }.map(\.number)
            #expect(found.sorted() == expected.sorted(), "\(point)")
            hits += found.count
        }
        #expect(hits > 1_000)
        for number in all.keys { _ = index.remove(number) }
        #expect(index.count == 0)
        index.forEach(near: Self.point(using: &generator)) { _ in Issue.record("a removed subscription is found") }
    }

    @Test func `a change near one of many small areas tests few of them`() {
        var (index, generator) = (SubscriptionIndex(), SeededGenerator(seed: 1))
        for number in 0..<10_000 {
            index.insert(Self.subscription(number, .circle(centre: Places.anywhere(using: &generator), radius: 5)))
        }
        var tested = 0
        for _ in 0..<1_000 { index.forEach(near: Places.anywhere(using: &generator)) { _ in tested += 1 } }
        #expect(tested < 1_000 * 100)
    }

    @Test func `a filter keeps the events that overlap its window, edges included`() {
        func shows(_ from: Int64?, _ to: Int64?) -> Bool {
            let window = EventFilter(
                from: from.map(Timestamp.init(milliseconds:)), to: to.map(Timestamp.init(milliseconds:)))
            let search = ChangeSearch(area: .circle(centre: EventDetails.picnic.coordinates, radius: 0), filter: window)
            return ChangeFilter(search).shows(EventDetails.picnic.place)
        }
        let (start, end) = (Timestamp.startOfPicnic.milliseconds, Timestamp.endOfPicnic.milliseconds)
        #expect(shows(nil, nil) && shows(end, nil) && shows(nil, start) && shows(start + 1, end - 1))
        #expect(!shows(end + 1, nil) && !shows(nil, start - 1))
    }
}

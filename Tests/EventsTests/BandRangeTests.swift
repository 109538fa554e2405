import Foundation
import TestChance
import Testing

@testable import Events

@Suite struct `Dividing the Earth into bands` {
    @Test(
        arguments: [
            (-90, -1800), (-89.96, -1800), (-89.95, -1799), (-0.01, -1), (-0.0, 0), (0, 0), (0.0499, 0), (0.05, 1), (37.76, 755),
            (90, 1800),
        ] as [(Double, Int16)])
    func `a band is a twentieth of a degree of latitude`(lat: Double, number: Int16) {
        #expect(BandRange.band(lat: lat) == number)
    }
}

@Suite struct `Covering a radius with ranges of bands` {
    @Test(arguments: Around.allCases) func `the ranges cover every place within the radius`(around: Around) throws {
        var generator = SeededGenerator(seed: 31)
        var within = 0
        for _ in 0..<60 {
            let centre = around.place(using: &generator)
            let radius = Radius.random(using: &generator)
            let ranges = RangesByBand(BandRange.covering(centre, kilometres: radius))
            // Also under every longitude that names the centre.
            for name in names(of: centre) { try #require(ranges.cover(name), "\(name)") }
            for _ in 0..<80 {
                let place = nearby(centre, radius: radius, using: &generator)
                guard Places.haversine(centre, place) <= radius else { continue }
                within += 1
                for name in names(of: place) {
                    try #require(ranges.cover(name), "\(name) is not found within \(radius) km of \(centre)")
                }
            }
        }
        #expect(within > 2_000)
    }

    @Test func `a small radius has few ranges, and half the Earth's circumference covers every place`() {
        let few = BandRange.covering(Coordinates(lat: 37.76, lon: -122.43), kilometres: 20)
        #expect(few.map(\.band) == Array(751...758))
        #expect(few.allSatisfy { $0.east - $0.west < 0.46 })
        for lat in [-90.0, -37, 0, 51.5, 90] {
            let ranges = BandRange.covering(Coordinates(lat: lat, lon: 179), kilometres: 20_100)
            #expect(ranges.map(\.band) == Array(-1800...1800))
            #expect(ranges.allSatisfy { $0.west == -180 && $0.east == 180 })
        }
    }

    @Test(arguments: Around.allCases) func `the ranges neither cross the date line nor overlap`(around: Around) throws {
        var generator = SeededGenerator(seed: 33)
        for _ in 0..<60 {
            let centre = around.place(using: &generator)
            let ranges = BandRange.covering(centre, kilometres: Radius.random(using: &generator))
            for ofBand in Dictionary(grouping: ranges, by: \.band).values {
                let ordered = ofBand.sorted { $0.west < $1.west }
                try #require(ordered.allSatisfy { -180 <= $0.west && $0.west <= $0.east && $0.east <= 180 }, "\(centre)")
                try #require(zip(ordered, ordered.dropFirst()).allSatisfy { $0.east < $1.west }, "\(centre)")
            }
        }
    }

    /// Draws places uniformly from the disc and, half of the time, close to its rim.
    private func nearby(_ centre: Coordinates, radius: Double, using generator: inout SeededGenerator) -> Coordinates {
        let innermost = Bool.random(using: &generator) ? 0.999 : 0
        let part = Double.random(in: innermost...1, using: &generator)
        // Ranges end at the rim due east and west, and bands end at the rim due north and south.
        let bearing: Double =
            switch Int.random(in: 0..<8, using: &generator) {
            case 0: 0
            case 1: 90
            case 2: 180
            case 3: 270
            case _: .random(in: 0..<360, using: &generator)
            }
        return Places.from(centre, kilometres: min(radius, .pi * Sphere.radius) * part, bearing: bearing)
    }

    private func names(of place: Coordinates) -> [Coordinates] {
        if abs(place.lat) == 90 { return [-180, -122.43, 0, 180].map { Coordinates(lat: place.lat, lon: $0) } }
        if abs(place.lon) == 180 { return [-180, 180].map { Coordinates(lat: place.lat, lon: $0) } }
        return [place]
    }
}

/// The regions that centres of searches are drawn from.
enum Around: CaseIterable {
    case anywhere, dateLine, onDateLine, northPole, southPole, poles, bandLimits, equator

    func place(using generator: inout SeededGenerator) -> Coordinates {
        let anywhere = Places.anywhere(using: &generator)
        let little = pow(10, Double.random(in: -12...1, using: &generator))
        let sign = Bool.random(using: &generator) ? 1.0 : -1.0
        return switch self {
        case .anywhere: anywhere
        case .dateLine: Coordinates(lat: anywhere.lat, lon: sign * (180 - little))
        case .onDateLine: Coordinates(lat: anywhere.lat, lon: sign * 180)
        case .northPole: Coordinates(lat: 90 - little, lon: anywhere.lon)
        case .southPole: Coordinates(lat: little - 90, lon: anywhere.lon)
        case .poles: Coordinates(lat: sign * 90, lon: anywhere.lon)
        case .bandLimits:
            Coordinates(lat: (anywhere.lat * BandRange.perDegree).rounded() / BandRange.perDegree, lon: anywhere.lon)
        case .equator: Coordinates(lat: 0, lon: sign * little)
        }
    }
}

private enum Radius {
    /// A radius in kilometres: 0, or from a millimetre to 20,100 with a uniform logarithm, or about the distance to the pole.
    static func random(using generator: inout SeededGenerator) -> Double {
        switch Int.random(in: 0..<10, using: &generator) {
        case 0: 0
        case 1: .random(in: 9_900...10_100, using: &generator)
        case 2: .random(in: 19_900...20_100, using: &generator)
        default: min(20_100, pow(10, .random(in: -6...4.31, using: &generator)))
        }
    }
}

private struct RangesByBand {
    private let byBand: [Int16: [BandRange]]

    init(_ ranges: [BandRange]) { byBand = Dictionary(grouping: ranges, by: \.band) }

    func cover(_ place: Coordinates) -> Bool {
        byBand[BandRange.band(lat: place.lat)]?.contains { $0.west <= place.lon && place.lon <= $0.east } == true
    }
}

import Foundation
import TestChance
import Testing

@testable import Events

@Suite struct `Covering a radius with degrees` {
    @Test(arguments: Around.allCases) func `the degrees cover every place within the radius`(around: Around) throws {
        var generator = SeededGenerator(seed: 31)
        var within = 0
        for _ in 0..<60 {
            let centre = around.place(using: &generator)
            let radius = Radius.random(using: &generator)
            let ranges = Ranges(Sphere.degrees(around: centre, kilometres: radius))
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

    @Test func `a small radius has few degrees, and half the Earth's circumference covers every place`() {
        let few = Sphere.degrees(around: Coordinates(lat: 37.76, lon: -122.43), kilometres: 20)
        #expect(few.latitudes.upperBound - few.latitudes.lowerBound < 0.37)
        #expect(few.longitudes.map { $0.upperBound - $0.lowerBound < 0.46 } == [true])
        for lat in [-90.0, -37, 0, 51.5, 90] {
            let all = Sphere.degrees(around: Coordinates(lat: lat, lon: 179), kilometres: 20_100)
            #expect(all.latitudes == -90...90 && all.longitudes == [-180...180])
        }
    }

    @Test(arguments: Around.allCases) func `the ranges neither cross the date line nor overlap`(around: Around) throws {
        var generator = SeededGenerator(seed: 33)
        for _ in 0..<60 {
            let centre = around.place(using: &generator)
            let longitudes = Sphere.degrees(around: centre, kilometres: Radius.random(using: &generator)).longitudes
            let ordered = longitudes.sorted { $0.lowerBound < $1.lowerBound }
            try #require(ordered.allSatisfy { -180 <= $0.lowerBound && $0.upperBound <= 180 }, "\(centre)")
            try #require(zip(ordered, ordered.dropFirst()).allSatisfy { $0.upperBound < $1.lowerBound }, "\(centre)")
        }
    }

    /// Draws places uniformly from the disc and, half of the time, close to its rim.
    private func nearby(_ centre: Coordinates, radius: Double, using generator: inout SeededGenerator) -> Coordinates {
        let innermost = Bool.random(using: &generator) ? 0.999 : 0
        let part = Double.random(in: innermost...1, using: &generator)
        // Longitudes end at the rim due east and west, and latitudes at the rim due north and south.
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
    case anywhere, dateLine, onDateLine, northPole, southPole, poles, equator

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

private struct Ranges {
    private let latitudes: ClosedRange<Double>
    private let longitudes: [ClosedRange<Double>]

    init(_ degrees: (latitudes: ClosedRange<Double>, longitudes: [ClosedRange<Double>])) {
        (latitudes, longitudes) = degrees
    }

    func cover(_ place: Coordinates) -> Bool {
        latitudes.contains(place.lat) && longitudes.contains { $0.contains(place.lon) }
    }
}

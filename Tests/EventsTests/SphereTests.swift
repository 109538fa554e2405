import Foundation
import SpatialIndex
import TestChance
import Testing

@testable import Events

@Suite struct `Measuring distances on the sphere` {
    @Test func `a distance is measured as the square of the chord`() {
        // The Earth's mean radius.
        #expect(Sphere.radius == 6371.0088)
        let quarter = Double.pi / 2 * Sphere.radius
        #expect(Sphere.squaredChord(kilometres: 0) == 0)
        #expect(abs(Sphere.squaredChord(kilometres: quarter) - 2) < 1e-15)
        #expect(abs(squaredChord(Coordinates(lat: 0, lon: 0), Coordinates(lat: 0, lon: 90)) - 2) < 1e-15)
        let degree = squaredChord(Coordinates(lat: 0, lon: 0), Coordinates(lat: 1, lon: 0))
        #expect(abs(Sphere.squaredChord(kilometres: 111.19508) - degree) < 1e-10)
    }

    @Test func `no place is farther away than the antipode`() {
        #expect(Sphere.squaredChord(kilometres: 50_000) == Sphere.squaredChord(kilometres: 20_100))
        #expect(Sphere.squaredChord(kilometres: 20_100) >= 4)
    }

    @Test func `places 0.1 m apart at 1.2 km are told apart`() throws {
        var generator = SeededGenerator(seed: 21)
        for _ in 0..<2_000 {
            let centre = Places.anywhere(using: &generator)
            let bearing = Double.random(in: 0..<360, using: &generator)
            let distances = [1.2, 1.2001, 1.2002].map { kilometres in
                squaredChord(centre, Places.from(centre, kilometres: kilometres, bearing: bearing))
            }
            try #require(distances == distances.sorted() && Set(distances).count == 3, "\(centre) \(bearing)")
            try #require(distances[0] < Sphere.squaredChord(kilometres: 1.20005), "\(centre) \(bearing)")
            try #require(distances[1] > Sphere.squaredChord(kilometres: 1.20005), "\(centre) \(bearing)")
        }
    }

    @Test func `a place is within a radius exactly if the great circle says so, within a millimetre`() throws {
        var generator = SeededGenerator(seed: 22)
        for _ in 0..<20_000 {
            let (a, b) = (Places.anywhere(using: &generator), Places.anywhere(using: &generator))
            let kilometres = Places.haversine(a, b)
            guard kilometres < 19_900 else { continue }
            try #require(squaredChord(a, b) <= Sphere.squaredChord(kilometres: kilometres + 1e-6), "\(a) \(b)")
            try #require(squaredChord(a, b) > Sphere.squaredChord(kilometres: kilometres - 1e-6), "\(a) \(b)")
        }
    }
}

@Suite struct `Placing coordinates on the unit sphere` {
    @Test func `all longitudes of a pole give the same place, and so do both of the date line`() {
        for lat in [90.0, -90.0] {
            let pole = UnitVector(Coordinates(lat: lat, lon: 0))
            for lon in [-180.0, -122.43, 90, 180] { #expect(UnitVector(Coordinates(lat: lat, lon: lon)) == pole) }
        }
        #expect(squaredChord(Coordinates(lat: 90, lon: 7), Coordinates(lat: -90, lon: 151)) == 4)
        for lat in [-89.9, -12.5, 0, 51.5] {
            #expect(UnitVector(Coordinates(lat: lat, lon: 180)) == UnitVector(Coordinates(lat: lat, lon: -180)))
        }
    }

    @Test func `neighbours across the date line and across a pole are near`() {
        let acrossTheLine = squaredChord(Coordinates(lat: 0, lon: 179.9999), Coordinates(lat: 0, lon: -179.9999))
        #expect(acrossTheLine < Sphere.squaredChord(kilometres: 0.0223))
        #expect(acrossTheLine > Sphere.squaredChord(kilometres: 0.0222))
        let acrossThePole = squaredChord(Coordinates(lat: 89.9999, lon: 10), Coordinates(lat: 89.9999, lon: -170))
        #expect(acrossThePole < Sphere.squaredChord(kilometres: 0.0223))
        #expect(acrossThePole > Sphere.squaredChord(kilometres: 0.0222))
    }
}

/// Computed from the vectors, coordinate by coordinate.
private func squaredChord(_ a: Coordinates, _ b: Coordinates) -> Double {
    let (a, b) = (UnitVector(a), UnitVector(b))
    return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y) + (a.z - b.z) * (a.z - b.z)
}

internal import Foundation
internal import SpatialIndex

/// Distances on a sphere with the Earth's mean radius.
enum Sphere {
    /// In kilometres. Source: Moritz, *Geodetic Reference System 1980*, mean radius R₁.
    static let radius = 6371.0088

    /// The square of the straight line, in units of the sphere's radius, between two places this far apart on the surface.
    static func squaredChord(kilometres: Double) -> Double { UnitVector.squaredChord(angle: kilometres / radius) }
}

extension UnitVector {
    init(_ place: Coordinates) { self.init(latitude: place.lat, longitude: place.lon) }
}

/// A range of a band, from west to east, without crossing the date line. The index of the nearest search has band and longitude as its
/// key.
struct BandRange: Sendable, Hashable {
    /// From -1,800 at the south pole to 1,800 at the north pole.
    var band: Int16
    var west: Double
    var east: Double

    /// The number of bands in one degree: a band is 5.6 km of latitude.
    static let perDegree = 20.0

    static func band(lat: Double) -> Int16 { Int16((lat * perDegree).rounded(.down)) }
}

extension BandRange {
    /// The ranges that together cover all points within a distance, and more.
    static func covering(_ centre: Coordinates, kilometres: Double) -> [BandRange] {
        let (latitudes, longitudes) = Sphere.degrees(around: centre, kilometres: kilometres)
        let bands = band(lat: latitudes.lowerBound)...band(lat: latitudes.upperBound)
        return bands.flatMap { band in
            longitudes.map { BandRange(band: band, west: $0.lowerBound, east: $0.upperBound) }
        }
    }
}

extension Sphere {
    /// The degrees that each range is longer than computed, so that rounding loses no event. The distance filters the rest.
    private static let margin = 1e-6

    /// The latitudes and the ranges of longitudes that together cover all points within a distance, and more.
    static func degrees(
        around centre: Coordinates, kilometres: Double
    ) -> (latitudes: ClosedRange<Double>, longitudes: [ClosedRange<Double>]) {
        let angle = min(kilometres / radius, .pi)
        let degrees = angle * 180 / .pi + margin
        let south = max(centre.lat - degrees, -90)
        let north = min(centre.lat + degrees, 90)
        return (south...north, longitudes(around: centre, angle: angle, reachesPole: south == -90 || north == 90))
    }

    private static func longitudes(around centre: Coordinates, angle: Double, reachesPole: Bool) -> [ClosedRange<Double>] {
        let everywhere = [-180.0...180.0]
        // Source: Bronstein et al., *Handbook of Mathematics*, spherical triangles: sin Δλ = sin δ / cos φ.
        let ratio = sin(angle) / cos(centre.lat * .pi / 180)
        guard !reachesPole, angle < .pi / 2, ratio < 0.9999 else { return everywhere }
        let reach = asin(ratio) * 180 / .pi + margin
        let (west, east) = (centre.lon - reach, centre.lon + reach)
        if west < -180 { return [-180...east, (west + 360)...180] }
        if east > 180 { return [-180...(east - 360), west...180] }
        return [west...east]
    }
}

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

import Foundation
import TestChance

@testable import Events

/// Places and distances, computed by other formulas than the module's.
enum Places {
    /// A place drawn uniformly from the sphere.
    static func anywhere(using generator: inout SeededGenerator) -> Coordinates {
        let lat = asin(Double.random(in: -1...1, using: &generator)) * 180 / .pi
        return Coordinates(lat: lat, lon: Double.random(in: -180...180, using: &generator))
    }

    /// Source: Sinnott, *Virtues of the Haversine*, Sky and Telescope 68 (1984).
    static func haversine(_ a: Coordinates, _ b: Coordinates) -> Double {
        let (latA, latB) = (a.lat * .pi / 180, b.lat * .pi / 180)
        let (sinLat, sinLon) = (sin((latB - latA) / 2), sin((b.lon - a.lon) * .pi / 360))
        return 2 * Sphere.radius * asin(min(1, (sinLat * sinLat + cos(latA) * cos(latB) * sinLon * sinLon).squareRoot()))
    }

    /// The place at the end of a great-circle arc that starts at a bearing in degrees from north.
    static func from(_ start: Coordinates, kilometres: Double, bearing: Double) -> Coordinates {
        let (lat, bearing, angle) = (start.lat * .pi / 180, bearing * .pi / 180, kilometres / Sphere.radius)
        let sinEnd = sin(lat) * cos(angle) + cos(lat) * sin(angle) * cos(bearing)
        let turn = atan2(sin(bearing) * sin(angle) * cos(lat), cos(angle) - sin(lat) * sinEnd)
        let lon = (start.lon + turn * 180 / .pi).remainder(dividingBy: 360)
        return Coordinates(lat: asin(max(-1, min(1, sinEnd))) * 180 / .pi, lon: lon)
    }
}

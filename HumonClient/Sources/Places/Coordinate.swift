internal import Foundation

/// A place on the Earth.
public struct Coordinate: Sendable, Hashable, Codable {
    /// Degrees north, from -90 to 90.
    public var latitude: Double
    /// Degrees east, from -180 to 180.
    public var longitude: Double

    public init(latitude: Double, longitude: Double) {
        self.latitude = latitude
        self.longitude = longitude
    }

    /// Kilometres on a sphere with the mean radius of the Earth, as the server computes them.
    public func kilometers(to other: Coordinate) -> Double {
        func radians(_ degrees: Double) -> Double { degrees * .pi / 180 }
        let (north, east) = (radians(other.latitude - latitude), radians(other.longitude - longitude))
        let scale = cos(radians(latitude)) * cos(radians(other.latitude))
        let chord = pow(sin(north / 2), 2) + scale * pow(sin(east / 2), 2)
        return 2 * Self.earthRadiusKilometers * asin(min(1, chord.squareRoot()))
    }

    private static let earthRadiusKilometers = 6_371.0088

    private enum CodingKeys: String, CodingKey {
        case latitude = "lat"
        case longitude = "lon"
    }
}

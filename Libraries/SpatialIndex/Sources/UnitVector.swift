internal import Foundation

/// A point on the unit sphere.
public struct UnitVector: Sendable, Hashable {
    public var x: Double
    public var y: Double
    public var z: Double

    /// The components are used as they are. ``init(latitude:longitude:)`` computes them.
    public init(x: Double, y: Double, z: Double) {
        self.x = x
        self.y = y
        self.z = z
    }

    /// The point at a latitude and a longitude, in degrees.
    ///
    /// All longitudes of a pole give one vector, and the longitudes -180 and 180 give one vector.
    public init(latitude: Double, longitude: Double) {
        if abs(latitude) == 90 {
            (x, y, z) = (0, 0, latitude > 0 ? 1 : -1)
        } else {
            let lat = latitude * .pi / 180
            let lon = (longitude == -180 ? 180 : longitude) * .pi / 180
            (x, y, z) = (cos(lat) * cos(lon), cos(lat) * sin(lon), sin(lat))
        }
    }

    /// The square of the straight line between two points whose directions differ by an angle.
    ///
    /// The chord grows with the distance on the surface, so the two give the same order. The chord needs no trigonometry for each
    /// point.
    /// - Parameter angle: in radians; an angle of π or more gives infinity, which holds every point
    public static func squaredChord(angle: Double) -> Double {
        // Rounding makes the square of some diameters a little more than 4.
        guard angle < .pi else { return .infinity }
        let halfChord = sin(angle / 2)
        return 4 * halfChord * halfChord
    }

    /// The square of the straight line to another point.
    public func squaredChord(to other: Self) -> Double { Self.squaredLength(x - other.x, y - other.y, z - other.z) }

    /// The order of the operations is part of the interface, so that another program can compute the same number, bit for bit.
    /// IEEE 754 leaves only the order open, and Swift does not fuse a multiplication with an addition.
    @inline(__always)
    static func squaredLength(_ x: Double, _ y: Double, _ z: Double) -> Double { x * x + y * y + z * z }
}

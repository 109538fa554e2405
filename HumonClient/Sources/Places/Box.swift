/// An area between two meridians and two parallels. Its edges belong to it.
public struct Box: Sendable, Hashable {
    /// Degrees from -180 to 180. A west that is greater than the east makes a box across the date line.
    public var west: Double
    /// Degrees from -90 to 90, not greater than `north`.
    public var south: Double
    public var east: Double
    public var north: Double

    /// The whole Earth.
    public static let world = Box(west: -180, south: -90, east: 180, north: 90)

    public init(west: Double, south: Double, east: Double, north: Double) {
        self.west = west
        self.south = south
        self.east = east
        self.north = north
    }

    /// The visible box of a map with this centre and these spans, such as an `MKCoordinateRegion`.
    ///
    /// The box ends at the poles, crosses the date line where the map does, and has every longitude if the span is 360
    /// degrees or more.
    /// - Parameters:
    ///   - latitudeDelta: degrees from the lower to the upper edge
    ///   - longitudeDelta: degrees from the left to the right edge
    public init(center: Coordinate, latitudeDelta: Double, longitudeDelta: Double) {
        south = max(center.latitude - latitudeDelta / 2, -90)
        north = min(center.latitude + latitudeDelta / 2, 90)
        if longitudeDelta >= 360 {
            (west, east) = (-180, 180)
        } else {
            west = Self.wrapped(center.longitude - longitudeDelta / 2)
            east = Self.wrapped(center.longitude + longitudeDelta / 2)
        }
    }

    /// The same meridian between -180 and 180 degrees.
    private static func wrapped(_ longitude: Double) -> Double {
        if (-180...180).contains(longitude) { return longitude }
        let rest = (longitude + 180).truncatingRemainder(dividingBy: 360)
        return rest < 0 ? rest + 180 : rest - 180
    }

    /// The value of `bbox` in a query.
    var text: String { "\(west),\(south),\(east),\(north)" }
}

/// As JSON a box is the array `[west, south, east, north]`.
extension Box: Codable {
    /// - Throws: `DecodingError` if the value is not four numbers
    public init(from decoder: any Decoder) throws {
        var numbers = try decoder.unkeyedContainer()
        west = try numbers.decode(Double.self)
        south = try numbers.decode(Double.self)
        east = try numbers.decode(Double.self)
        north = try numbers.decode(Double.self)
    }

    /// - Throws: `EncodingError`
    public func encode(to encoder: any Encoder) throws {
        var numbers = encoder.unkeyedContainer()
        for degrees in [west, south, east, north] { try numbers.encode(degrees) }
    }
}

/// A box between two latitudes and two longitudes, in degrees. All edges belong to the box.
public struct DegreeBox: Sendable, Hashable {
    public var south: Double
    public var west: Double
    public var north: Double
    /// If it is less than ``west``, the box crosses the date line.
    public var east: Double

    public init(south: Double, west: Double, north: Double, east: Double) {
        self.south = south
        self.west = west
        self.north = north
        self.east = east
    }

    /// The same box for a search: -180 and 180 name one meridian, so a box with one of them at its edge has both. It crosses the date line
    /// then, by no width.
    public var closedAtDateLine: DegreeBox {
        if west == -180, east == 180 { return self }
        return DegreeBox(south: south, west: west == -180 ? 180 : west, north: north, east: east == 180 ? -180 : east)
    }

    public func contains(latitude: Double, longitude: Double) -> Bool {
        guard south <= latitude, latitude <= north else { return false }
        return west <= east ? west <= longitude && longitude <= east : west <= longitude || longitude <= east
    }
}

/// The other box does not cross the date line.
extension DegreeBox {
    /// The box around no point.
    static let empty = DegreeBox(south: .infinity, west: .infinity, north: -.infinity, east: -.infinity)

    func overlaps(_ other: Self) -> Bool {
        guard south <= other.north, other.south <= north else { return false }
        return west <= east ? west <= other.east && other.west <= east : west <= other.east || other.west <= east
    }

    func contains(_ other: Self) -> Bool {
        guard south <= other.south, other.north <= north else { return false }
        return west <= east ? west <= other.west && other.east <= east : west <= other.west || other.east <= east
    }

    /// Grows the box, which does not cross the date line either.
    mutating func cover(_ other: Self) {
        (south, west) = (min(south, other.south), min(west, other.west))
        (north, east) = (max(north, other.north), max(east, other.east))
    }
}

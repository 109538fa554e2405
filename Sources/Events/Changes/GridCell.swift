internal import Encoding
internal import SpatialIndex

/// A cell of a grid of latitudes and longitudes. There is a grid for each level: it has twice as many rows and columns as the grid
/// of the level before. The grid of level 0 has one cell.
struct GridCell: Hashable, Sendable {
    private let level: Int
    private let row: Int
    private let column: Int

    private init(level: Int, row: Int, line: Int) {
        self.level = level
        self.row = row
        // The longitudes -180 and 180 are in one column.
        column = line & (1 << level - 1)
    }

    init(level: Int, _ point: Coordinates) {
        self.init(level: level, row: Self.row(point.lat, level), line: Self.line(point.lon, level))
    }

    /// The cells that an area touches.
    static func cells(of area: EventArea, level: Int) -> Set<GridCell> {
        let (latitudes, longitudes) = area.degrees
        let rows = row(latitudes.lowerBound, level)...row(latitudes.upperBound, level)
        let lines = longitudes.map { line($0.lowerBound, level)...line($0.upperBound, level) }
        return Set(lines.joined().flatMap { line in rows.map { GridCell(level: level, row: $0, line: line) } })
    }

    /// The finest level, up to `deepest`, with cells as large as the area.
    static func level(of area: EventArea, deepest: Int) -> Int {
        let (latitudes, longitudes) = area.degrees
        let height = latitudes.upperBound - latitudes.lowerBound
        let width = longitudes.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        var level = 0
        while level < deepest, height <= 180 / Double(2 << level), width <= 360 / Double(2 << level) { level += 1 }
        return level
    }

    /// Grows with the latitude, so that the row of a point between two latitudes is between their rows.
    private static func row(_ latitude: Double, _ level: Int) -> Int {
        min(max(Int((latitude + 90) / 180 * Double(1 << level)), 0), 1 << level - 1)
    }

    /// The column of a longitude, but one more than the last column at 180. Grows with the longitude.
    private static func line(_ longitude: Double, _ level: Int) -> Int {
        min(max(Int((longitude + 180) / 360 * Double(1 << level)), 0), 1 << level)
    }
}

extension EventArea {
    /// The latitudes and the ranges of longitudes that together contain the area.
    var degrees: (latitudes: ClosedRange<Double>, longitudes: [ClosedRange<Double>]) {
        switch self {
        case .circle(let centre, let radius): Sphere.degrees(around: centre, kilometres: radius)
        case .box(let box):
            (
                box.south...max(box.south, box.north),
                box.west <= box.east ? [box.west...box.east] : [box.west...180, -180...box.east]
            )
        }
    }
}

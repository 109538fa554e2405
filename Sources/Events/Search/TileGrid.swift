internal import Foundation
internal import SpatialIndex

/// The cells of a map's view: parts of the tiles of the Web Mercator projection. The first and the last row of tiles reach the poles.
///
/// Source: EPSG:3857, with tiles of 256 x 256 pixels as in OpenStreetMap's slippy map.
struct TileGrid: Sendable, Hashable {
    /// Cells along one side of a tile. A cell then has 64 x 64 pixels.
    private static let cellsPerTile = 4

    /// The parts of the view: two if it crosses the date line.
    struct Part: Sendable, Hashable {
        var box: DegreeBox
        /// The longitudes between two columns, from west to east.
        var longitudes: [Double]
    }

    /// The latitudes between two rows, from south to north.
    let latitudes: [Double]
    /// From west to east.
    let parts: [Part]

    /// - Returns: `nil` if the grid has more than the maximum number of cells
    init?(_ box: DegreeBox, zoom: Int, maximumCells: Int) {
        let side = Self.cellsPerTile << zoom
        guard let latitudes = Self.latitudes(box, side, maximumCells) else { return nil }
        let boxes =
            box.west <= box.east
            ? [box]
            : [
                DegreeBox(south: box.south, west: box.west, north: box.north, east: 180),
                DegreeBox(south: box.south, west: -180, north: box.north, east: box.east),
            ]
        let parts = boxes.compactMap { part in
            Self.longitudes(part, side, maximumCells).map { Part(box: part, longitudes: $0) }
        }
        // The meridian at 180 degrees, under its other name, makes the view no larger.
        let columns = parts.reduce(0) { $0 + ($1.box.west == $1.box.east ? 0 : $1.longitudes.count + 1) }
        guard parts.count == boxes.count, (latitudes.count + 1) * columns <= maximumCells else { return nil }
        (self.latitudes, self.parts) = (latitudes, parts)
    }

    /// - Parameter side: the number of cells around the Earth
    private static func latitudes(_ box: DegreeBox, _ side: Int, _ maximum: Int) -> [Double]? {
        func row(_ latitude: Double) -> Double {
            (1 - asinh(tan(latitude * .pi / 180)) / .pi) / 2 * Double(side)
        }
        // Rows are counted from the north. Rounding may move the estimate by less than one row.
        let (first, last) = (max(1, row(box.north) - 1), min(Double(side - 1), row(box.south) + 1))
        guard last - first <= Double(maximum) + 4 else { return nil }
        let rows = first <= last ? Array(Int(first.rounded(.down))...Int(last.rounded(.up))) : []
        return rows.reversed().map { atan(sinh(.pi * (1 - 2 * Double($0) / Double(side)))) * 180 / .pi }
            .filter { box.south < $0 && $0 < box.north }
    }

    private static func longitudes(_ box: DegreeBox, _ side: Int, _ maximum: Int) -> [Double]? {
        func column(_ longitude: Double) -> Double { (longitude + 180) / 360 * Double(side) }
        let (first, last) = (max(1, column(box.west) - 1), min(Double(side - 1), column(box.east) + 1))
        guard last - first <= Double(maximum) + 4 else { return nil }
        let columns = first <= last ? Array(Int(first.rounded(.down))...Int(last.rounded(.up))) : []
        return columns.map { -180 + 360 * Double($0) / Double(side) }.filter { box.west < $0 && $0 < box.east }
    }
}

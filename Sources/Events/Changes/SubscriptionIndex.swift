internal import SpatialIndex

/// Finds the subscriptions to areas that may contain a point, without a scan of all subscriptions.
///
/// The sphere has one grid of latitudes and longitudes for each level. A grid has twice as many rows and columns as the grid before
/// it; the first one has one cell. A subscription is in the few cells that its area touches, on the finest level with cells as large
/// as the area. So a lookup reads one cell for each level in use.
struct SubscriptionIndex {
    /// The cells of this level have 0.04 degrees of latitude, or 5 km.
    private static let deepestLevel = 12

    private var cells: [GridCell: [Int: ChangeSubscription]] = [:]
    /// The number of subscriptions on each level.
    private var counts = [Int](repeating: 0, count: deepestLevel + 1)
    private var byNumber: [Int: ChangeSubscription] = [:]

    var all: some Collection<ChangeSubscription> { byNumber.values }
    var count: Int { byNumber.count }

    subscript(number: Int) -> ChangeSubscription? { byNumber[number] }

    mutating func insert(_ subscription: ChangeSubscription) {
        byNumber[subscription.number] = subscription
        let (level, cells) = Self.cells(of: subscription.area)
        counts[level] += 1
        for cell in cells { self.cells[cell, default: [:]][subscription.number] = subscription }
    }

    mutating func remove(_ number: Int) -> ChangeSubscription? {
        guard let subscription = byNumber.removeValue(forKey: number) else { return nil }
        let (level, cells) = Self.cells(of: subscription.area)
        counts[level] -= 1
        for cell in cells {
            self.cells[cell]?[number] = nil
            if self.cells[cell]?.isEmpty == true { self.cells[cell] = nil }
        }
        return subscription
    }

    /// Calls `body` once for each subscription to an area with the point, and for some subscriptions to areas near it.
    func forEach(near point: Coordinates, _ body: (ChangeSubscription) -> Void) {
        for level in counts.indices where counts[level] > 0 {
            guard let cell = cells[GridCell(level: level, point)] else { continue }
            for subscription in cell.values { body(subscription) }
        }
    }

    private static func cells(of area: ChangeArea) -> (level: Int, cells: Set<GridCell>) {
        let (latitudes, longitudes) = area.degrees
        let height = latitudes.upperBound - latitudes.lowerBound
        let width = longitudes.reduce(0) { $0 + $1.upperBound - $1.lowerBound }
        var level = 0
        while level < deepestLevel, height <= 180 / Double(2 << level), width <= 360 / Double(2 << level) { level += 1 }
        let rows = GridCell.row(latitudes.lowerBound, level)...GridCell.row(latitudes.upperBound, level)
        let cells = longitudes.flatMap { range in
            (GridCell.line(range.lowerBound, level)...GridCell.line(range.upperBound, level)).flatMap { line in
                rows.map { GridCell(level: level, row: $0, line: line) }
            }
        }
        return (level, Set(cells))
    }
}

/// A cell of the grid of a level.
private struct GridCell: Hashable {
    let level: Int
    let row: Int
    let column: Int

    init(level: Int, row: Int, line: Int) {
        self.level = level
        self.row = row
        // The longitudes -180 and 180 are in one column.
        column = line & (1 << level - 1)
    }

    init(level: Int, _ point: Coordinates) {
        self.init(level: level, row: Self.row(point.lat, level), line: Self.line(point.lon, level))
    }

    /// Grows with the latitude, so that the row of a point between two latitudes is between their rows.
    static func row(_ latitude: Double, _ level: Int) -> Int {
        min(max(Int((latitude + 90) / 180 * Double(1 << level)), 0), 1 << level - 1)
    }

    /// The column of a longitude, but one more than the last column at 180. Grows with the longitude.
    static func line(_ longitude: Double, _ level: Int) -> Int {
        min(max(Int((longitude + 180) / 360 * Double(1 << level)), 0), 1 << level)
    }
}

extension ChangeArea {
    /// The latitudes and the ranges of longitudes that together contain the area.
    fileprivate var degrees: (latitudes: ClosedRange<Double>, longitudes: [ClosedRange<Double>]) {
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

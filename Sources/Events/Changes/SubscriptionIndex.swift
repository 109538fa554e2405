internal import Encoding

/// Finds the subscriptions to areas that may contain a point, without a scan of all subscriptions.
///
/// A subscription is in the few cells that its area touches, on the finest level with cells as large as the area. So a lookup reads
/// one cell for each level in use.
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

    private static func cells(of area: EventArea) -> (level: Int, cells: Set<GridCell>) {
        let level = GridCell.level(of: area, deepest: deepestLevel)
        return (level, GridCell.cells(of: area, level: level))
    }
}

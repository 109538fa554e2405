/// The number of points of a node and the limits of their columns. The parent stores it, so that a search reads only the nodes that
/// it needs.
struct Bounds: Sendable, Hashable {
    var count: Int
    var box: Box
    /// It does not cross the date line: a node with points on both sides of it has a wide box.
    var degrees: DegreeBox
    /// The earliest and the latest first moment.
    var starts: Limits<Int64>
    /// The earliest and the latest last moment.
    var ends: Limits<Int64>
}

/// The smallest and the largest number of some numbers.
struct Limits<Number: Comparable & BitwiseCopyable & Sendable & Hashable>: Sendable, Hashable {
    var low: Number
    var high: Number
}

extension Limits {
    /// - Parameter numbers: at least one
    init(_ numbers: Column<Number>) {
        let count = numbers.count
        // Two chains of comparisons, which the processor carries out side by side.
        var (low, high) = (numbers[0], numbers[0])
        var (otherLow, otherHigh) = (low, high)
        var index = 1
        while index + 1 < count {
            let (one, other) = (numbers[index], numbers[index + 1])
            low = one < low ? one : low
            high = high < one ? one : high
            otherLow = other < otherLow ? other : otherLow
            otherHigh = otherHigh < other ? other : otherHigh
            index += 2
        }
        if index < count {
            low = numbers[index] < low ? numbers[index] : low
            high = high < numbers[index] ? numbers[index] : high
        }
        self.init(low: otherLow < low ? otherLow : low, high: high < otherHigh ? otherHigh : high)
    }
}

/// The smallest box, parallel to the axes, around some points.
struct Box: Sendable, Hashable {
    var low: UnitVector
    var high: UnitVector
}

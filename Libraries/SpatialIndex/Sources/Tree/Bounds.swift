/// The number of points of a node and the limits of their columns. The parent stores it, so that a search reads only the nodes that
/// it needs.
struct Bounds: Sendable, Hashable {
    var count = 0
    var box = Box.empty
    /// It does not cross the date line: a node with points on both sides of it has a wide box.
    var degrees = DegreeBox.empty
    /// The earliest and the latest first moment.
    var starts = Limits<Int64>(low: .max, high: .min)
    /// The earliest and the latest last moment.
    var ends = Limits<Int64>(low: .max, high: .min)
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

    /// The box around no point.
    static let empty = Box(
        low: UnitVector(x: .infinity, y: .infinity, z: .infinity), high: UnitVector(x: -.infinity, y: -.infinity, z: -.infinity)
    )
}

extension Box {
    init(x: Limits<Double>, y: Limits<Double>, z: Limits<Double>) {
        low = UnitVector(x: x.low, y: y.low, z: z.low)
        high = UnitVector(x: x.high, y: y.high, z: z.high)
    }
}

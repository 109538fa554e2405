/// The smallest box, along the axes of the unit sphere, around some places.
struct Box: Sendable, Hashable {
    var low: UnitVector
    var high: UnitVector

    /// Around nothing.
    static let empty = Box(
        low: UnitVector(x: .infinity, y: .infinity, z: .infinity), high: UnitVector(x: -.infinity, y: -.infinity, z: -.infinity)
    )

    mutating func cover(_ box: Box) {
        low = UnitVector(x: min(low.x, box.low.x), y: min(low.y, box.low.y), z: min(low.z, box.low.z))
        high = UnitVector(x: max(high.x, box.high.x), y: max(high.y, box.high.y), z: max(high.z, box.high.z))
    }

    mutating func cover(_ place: UnitVector) { cover(Box(low: place, high: place)) }
}

/// Boxes, a column after another.
///
/// No place in a box is measured nearer than ``nearest(to:into:)`` or farther than ``farthest(_:from:)``, to the last bit: rounding
/// never turns the order of two numbers round, and here as there it is the same differences, squares and sums that are rounded.
struct Boxes: Sendable {
    let count: Int
    private let columns: [Double]

    init(_ boxes: [Box]) {
        count = boxes.count
        columns =
            boxes.map(\.low.x) + boxes.map(\.low.y) + boxes.map(\.low.z) + boxes.map(\.high.x) + boxes.map(\.high.y)
            + boxes.map(\.high.z)
    }

    /// Around all of them.
    var box: Box { (0..<count).reduce(into: .empty) { $0.cover(self[$1]) } }

    subscript(index: Int) -> Box {
        Box(
            low: UnitVector(x: columns[index], y: columns[count + index], z: columns[2 * count + index]),
            high: UnitVector(x: columns[3 * count + index], y: columns[4 * count + index], z: columns[5 * count + index])
        )
    }

    /// One squared chord a box. A loop without conditions, so that the compiler measures several boxes at a time.
    func nearest(to place: UnitVector, into chords: UnsafeMutableBufferPointer<Double>) {
        columns.withUnsafeBufferPointer { columns in
            guard let lowX = columns.baseAddress, let chords = chords.baseAddress else { return }
            let (lowY, lowZ, highX) = (lowX + count, lowX + 2 * count, lowX + 3 * count)
            let (highY, highZ) = (lowX + 4 * count, lowX + 5 * count)
            for index in 0..<count {
                chords[index] = UnitVector.squaredLength(
                    larger(larger(lowX[index] - place.x, place.x - highX[index]), 0),
                    larger(larger(lowY[index] - place.y, place.y - highY[index]), 0),
                    larger(larger(lowZ[index] - place.z, place.z - highZ[index]), 0)
                )
            }
        }
    }

    /// The squared chord.
    func farthest(_ index: Int, from place: UnitVector) -> Double {
        let box = self[index]
        return UnitVector.squaredLength(
            larger(place.x - box.low.x, box.high.x - place.x),
            larger(place.y - box.low.y, box.high.y - place.y),
            larger(place.z - box.low.z, box.high.z - place.z)
        )
    }

    /// One instruction where `max` is three: it says nothing of numbers that are none.
    @inline(__always)
    private func larger(_ left: Double, _ right: Double) -> Double { left > right ? left : right }
}

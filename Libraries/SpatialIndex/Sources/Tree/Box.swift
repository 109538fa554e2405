/// The smallest box, parallel to the axes, around some points.
struct Box: Sendable, Hashable {
    var low: UnitVector
    var high: UnitVector

    /// The box around no point.
    static let empty = Box(
        low: UnitVector(x: .infinity, y: .infinity, z: .infinity), high: UnitVector(x: -.infinity, y: -.infinity, z: -.infinity)
    )

    init(low: UnitVector, high: UnitVector) {
        self.low = low
        self.high = high
    }

    init(x: Limits<Double>, y: Limits<Double>, z: Limits<Double>) {
        low = UnitVector(x: x.low, y: y.low, z: z.low)
        high = UnitVector(x: x.high, y: y.high, z: z.high)
    }
}

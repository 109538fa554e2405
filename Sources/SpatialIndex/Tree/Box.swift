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

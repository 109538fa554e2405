/// The place of a point in the order of the leaves (a Z-order curve), in which most neighbours on the sphere are neighbours.
struct LeafKey: Sendable, Hashable, Comparable {
    var cell: OctreeCell
    /// Distinguishes the points of one cell. A cell may have more points than a leaf holds.
    var id: Int64

    static func < (left: Self, right: Self) -> Bool {
        left.cell.number == right.cell.number ? left.id < right.id : left.cell.number < right.cell.number
    }
}

/// A cell of the octree around the unit sphere, 6 m wide. It has neither poles nor a date line.
struct OctreeCell: Sendable, Hashable {
    private static let bitsPerAxis: UInt64 = 21
    /// No cell has this number.
    static let none = OctreeCell(number: .max)

    /// The first three bits choose an eighth of the cube, the next three an eighth of that eighth, and so on.
    var number: UInt64

    init(number: UInt64) { self.number = number }

    init(_ vector: UnitVector) {
        number = Self.spread(vector.x) << 2 | Self.spread(vector.y) << 1 | Self.spread(vector.z)
    }

    /// Number of leading bits that two cells share, three bits for each level; 63 for equal cells.
    func sharedBits(with other: Self) -> Int { (number ^ other.number).leadingZeroBitCount - 1 }

    func leading(bits: UInt64) -> Int { Int(number >> (3 * Self.bitsPerAxis - bits)) }

    /// A coordinate from -1 to 1 as an integer, with two zero bits between its bits.
    private static func spread(_ coordinate: Double) -> UInt64 {
        let steps = Double(UInt64(1) << (bitsPerAxis - 1))
        let last = Double(UInt64(1) << bitsPerAxis - 1)
        var bits = UInt64(min(max(0, (coordinate + 1) * steps), last))
        // Source: Anderson, *Bit Twiddling Hacks*, interleaving by binary magic numbers, in three dimensions.
        bits = (bits | bits << 32) & 0x001F_0000_0000_FFFF
        bits = (bits | bits << 16) & 0x001F_0000_FF00_00FF
        bits = (bits | bits << 8) & 0x100F_00F0_0F00_F00F
        bits = (bits | bits << 4) & 0x10C3_0C30_C30C_30C3
        return (bits | bits << 2) & 0x1249_2492_4924_9249
    }
}

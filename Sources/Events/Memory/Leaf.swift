internal import Users

/// Up to ``capacity`` events that are mostly neighbours, by id, in one block of memory of exactly their size.
///
/// Since a change makes the leaf anew, there is no room to spare in it and nothing to compact.
///
/// `@unchecked`: the block is written in `init` only, and freed with the leaf.
final class Leaf: @unchecked Sendable {
    /// Larger ones are copied for longer by every change, smaller ones are more to look through; measured in decision 16.
    static let capacity = 128

    /// What a leaf is made of. The JSON is only looked at, in another leaf or in a batch.
    struct Row {
        var id: Int64
        var owner: UserID
        var version: Int32
        var vector: UnitVector
        var json: UnsafeRawBufferPointer

        var key: LeafKey { LeafKey(cell: OctreeCell(vector), id: id) }
    }

    let count: Int
    /// No event of the leaf stands before it, and none of an earlier leaf stands behind.
    let low: LeafKey
    let box: Box
    /// Of the block. A column after another: three of coordinates, ids, owners, versions, ends of the JSON, and then the JSON.
    private let size: Int
    private let block: UnsafeMutableRawPointer

    /// - Parameter rows: by id
    init(_ rows: some RandomAccessCollection<Row>, low: LeafKey) {
        count = rows.count
        self.low = low
        size = rows.reduce(0) { $0 + Self.columnBytes + $1.json.count }
        block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: MemoryLayout<Double>.alignment)
        box = rows.reduce(into: .empty) { $0.cover($1.vector) }
        var end = 0
        for (row, event) in rows.enumerated() {
            column(0, Double.self)[row] = event.vector.x
            column(8, Double.self)[row] = event.vector.y
            column(16, Double.self)[row] = event.vector.z
            column(24, Int64.self)[row] = event.id
            column(32, Int64.self)[row] = event.owner.rawValue
            column(40, Int32.self)[row] = event.version
            UnsafeMutableRawBufferPointer(start: block + count * Self.columnBytes + end, count: event.json.count)
                .copyMemory(from: event.json)
            end += event.json.count
            column(44, UInt32.self)[row] = UInt32(end)
        }
    }

    deinit { block.deallocate() }

    /// What is held for it, with the allocator's share.
    var bytes: Int { size + MemoryLayout<Int>.size * 2 + Self.objectBytes }

    /// The leaf itself: 128 bytes, and the allocator's 16.
    private static let objectBytes = 144
    /// Of all columns, a row.
    private static let columnBytes = 48

    func id(_ row: Int) -> Int64 { column(24, Int64.self)[row] }

    func owner(_ row: Int) -> UserID { UserID(rawValue: column(32, Int64.self)[row]) }

    func version(_ row: Int) -> Int32 { column(40, Int32.self)[row] }

    /// Valid as long as the leaf is there.
    func json(_ row: Int) -> UnsafeRawBufferPointer {
        let ends = column(44, UInt32.self)
        let start = row == 0 ? 0 : Int(ends[row - 1])
        return UnsafeRawBufferPointer(start: block + count * Self.columnBytes + start, count: Int(ends[row]) - start)
    }

    func row(of id: Int64) -> Int? {
        let ids = column(24, Int64.self)
        let row = (0..<count).partitioningIndex { ids[$0] >= id }
        return row < count && ids[row] == id ? row : nil
    }

    /// Valid as long as the leaf is there.
    subscript(row: Int) -> Row {
        Row(id: id(row), owner: owner(row), version: version(row), vector: vector(row), json: json(row))
    }

    func vector(_ row: Int) -> UnitVector {
        UnitVector(x: column(0, Double.self)[row], y: column(8, Double.self)[row], z: column(16, Double.self)[row])
    }

    /// One number a row. A loop of its own, without conditions, so that the compiler measures several rows at a time.
    func squaredChords(to centre: UnitVector, into chords: UnsafeMutableBufferPointer<Double>) {
        guard let chords = chords.baseAddress else { return }
        let (xs, ys, zs) = (column(0, Double.self), column(8, Double.self), column(16, Double.self))
        for row in 0..<count {
            chords[row] = UnitVector.squaredLength(xs[row] - centre.x, ys[row] - centre.y, zs[row] - centre.z)
        }
    }

    /// - Parameter offset: the bytes a row of all columns before it
    @inline(__always)
    private func column<Value>(_ offset: Int, _: Value.Type) -> UnsafeMutablePointer<Value> {
        (block + offset * count).assumingMemoryBound(to: Value.self)
    }
}

extension RandomAccessCollection {
    /// The first index whose element is `true`, of elements that are first `false` and then `true`.
    func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
        var (start, length) = (startIndex, count)
        while length > 0 {
            let half = length / 2
            let middle = index(start, offsetBy: half)
            if isBehind(self[middle]) {
                length = half
            } else {
                start = index(after: middle)
                length -= half + 1
            }
        }
        return start
    }
}

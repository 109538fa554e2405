internal import Users

/// Up to ``capacity`` events that are mostly neighbours, by id, in one block of memory of exactly their size.
///
/// Since a change makes the leaf anew, there is no room to spare in it and nothing to compact. It is no object, and nobody counts who
/// looks at it: whoever does holds a snapshot that it is in (``Retired``).
///
/// `@unchecked`: the block is written by whoever makes it, before anybody else sees it.
struct Leaf: BitwiseCopyable, @unchecked Sendable {
    /// Larger ones are copied for longer by every change, smaller ones are more to look through; measured in decision 16.
    static let capacity = 64

    /// What a leaf is made of. The JSON is only looked at, in another leaf or in a batch.
    struct Row {
        var id: Int64
        var owner: UserID
        var version: Int32
        var vector: UnitVector
        var json: UnsafeRawBufferPointer

        var key: LeafKey { LeafKey(cell: OctreeCell(vector), id: id) }
    }

    /// The count, and then a column after another: three of coordinates, ids, owners, versions, ends of the JSON; then the JSON.
    let block: UnsafeMutableRawPointer

    /// Of rows that are yet to be written, from the first to the last.
    init(count: Int, jsonBytes: Int, _ retiredBlocks: inout RetiredBlocks) {
        block = retiredBlocks.allocate(Self.headBytes + count * Self.columnBytes + jsonBytes)
        block.storeBytes(of: count, as: Int.self)
    }

    var count: Int { block.load(as: Int.self) }

    /// Of the block.
    var bytes: Int { Self.headBytes + count * Self.columnBytes + jsonRange(0..<count).count }

    private static let headBytes = MemoryLayout<Int>.stride
    /// Of all columns, a row.
    private static let columnBytes = 48

    func id(_ row: Int) -> Int64 { column(24, Int64.self)[row] }

    func owner(_ row: Int) -> UserID { UserID(rawValue: column(32, Int64.self)[row]) }

    func version(_ row: Int) -> Int32 { column(40, Int32.self)[row] }

    func json(_ row: Int) -> UnsafeRawBufferPointer { json(row..<row + 1) }

    /// Side by side.
    private func json(_ rows: Range<Int>) -> UnsafeRawBufferPointer {
        let range = jsonRange(rows)
        return UnsafeRawBufferPointer(start: json + range.lowerBound, count: range.count)
    }

    func jsonRange(_ rows: Range<Int>) -> Range<Int> {
        let ends = column(44, UInt32.self)
        func start(_ row: Int) -> Int { row == 0 ? 0 : Int(ends[row - 1]) }
        return start(rows.lowerBound)..<start(rows.upperBound)
    }

    /// The first row, from the given one on, whose id is not smaller.
    func firstRow(from start: Int = 0, notBefore id: Int64) -> Int {
        let ids = column(24, Int64.self)
        return (start..<count).partitioningIndex { ids[$0] >= id }
    }

    func row(of id: Int64) -> Int? {
        let row = firstRow(notBefore: id)
        return row < count && self.id(row) == id ? row : nil
    }

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
        (block + Self.headBytes + offset * count).assumingMemoryBound(to: Value.self)
    }

    private var json: UnsafeMutableRawPointer { block + Self.headBytes + count * Self.columnBytes }
}

/// Only while it is made: each row after the one before it, behind whose JSON its own comes.
extension Leaf {
    func write(_ event: Row, at row: Int) {
        column(0, Double.self)[row] = event.vector.x
        column(8, Double.self)[row] = event.vector.y
        column(16, Double.self)[row] = event.vector.z
        column(24, Int64.self)[row] = event.id
        column(32, Int64.self)[row] = event.owner.rawValue
        column(40, Int32.self)[row] = event.version
        let start = jsonRange(0..<row).upperBound
        column(44, UInt32.self)[row] = UInt32(start + event.json.count)
        UnsafeMutableRawBufferPointer(start: json + start, count: event.json.count).copyMemory(from: event.json)
    }

    func write(_ rows: Range<Int>, of other: Leaf, at row: Int) {
        func copy<Value: BitwiseCopyable>(_ offset: Int, _: Value.Type) {
            let from = other.column(offset, Value.self) + rows.lowerBound
            (column(offset, Value.self) + row).update(from: from, count: rows.count)
        }
        copy(0, Double.self)
        copy(8, Double.self)
        copy(16, Double.self)
        copy(24, Int64.self)
        copy(32, Int64.self)
        copy(40, Int32.self)
        let start = jsonRange(0..<row).upperBound
        let from = other.json(rows)
        let (ends, otherEnds) = (column(44, UInt32.self) + row, other.column(44, UInt32.self) + rows.lowerBound)
        // Modulo 2³², since the JSON may come to stand before where it was.
        let shift = UInt32(truncatingIfNeeded: start - other.jsonRange(rows).lowerBound)
        for index in 0..<rows.count { ends[index] = otherEnds[index] &+ shift }
        UnsafeMutableRawBufferPointer(start: json + start, count: from.count).copyMemory(from: from)
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

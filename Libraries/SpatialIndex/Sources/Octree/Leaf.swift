/// At most ``capacity`` neighbouring points in one block of memory of exactly their size.
///
/// The points are ordered by their last moments, the latest first, and then by id. So a search in a window that begins now reads
/// the first rows only, although most points may be over.
///
/// A change makes a new leaf, so that a leaf has no spare room. A leaf is not an object and has no reference count: a snapshot keeps
/// its leaves (``DeferredReclamation``), and every reader holds a snapshot.
struct Leaf: BitwiseCopyable, Sendable {
    /// Maximum number of points. Every change copies a leaf, so a larger leaf makes changes slower. Every search visits many
    /// leaves, so a smaller leaf makes searches slower.
    static let capacity = 64

    /// A point of a leaf. Payload and words point into another leaf or into a batch.
    struct Row {
        var id: Int64
        var tag: Int64
        var note: UInt64 = 0
        var version: Int32
        var location: PointIndex.Location
        var payload: Column<UInt8>
        var words: Column<UInt8>

        var key: LeafKey { LeafKey(cell: OctreeCell(location.vector), id: id) }
        /// The place in the leaf. The complement reverses the order of the last moments.
        var order: (Int64, Int64) { (~location.span.upperBound, id) }
    }

    /// The count and the bytes of the words, then one column after another: x, y, z, latitudes, longitudes, first and last moments, ids,
    /// tags, notes, versions, ends of the payloads, and ends of the words if a row has words; then the words, and the payloads.
    let block: Block

    /// Allocates a leaf. The caller then writes each row, from the first to the last.
    init(count: Int, payloadBytes: Int, wordBytes: Int, _ blocks: inout RetiredBlocks) {
        block = blocks.allocate(Self.headBytes + count * Self.columnBytes(wordBytes) + wordBytes + payloadBytes)
        (block.count, block.wordBytes) = (count, wordBytes)
    }

    var count: Int { block.count }

    /// Size of the block.
    var bytes: Int { firstText + block.wordBytes + payloads.range(0..<count).count }

    private static let headBytes = MemoryLayout<Int>.stride
    /// Bytes of one row in all columns, without payload and words.
    private static func columnBytes(_ wordBytes: Int) -> Int { wordBytes == 0 ? 88 : 92 }
    private var firstText: Int { Self.headBytes + count * Self.columnBytes(block.wordBytes) }

    func id(_ row: Int) -> Int64 { column(56, Int64.self)[row] }

    func tag(_ row: Int) -> Int64 { column(64, Int64.self)[row] }

    func note(_ row: Int) -> UInt64 { column(72, UInt64.self)[row] }

    func version(_ row: Int) -> Int32 { column(80, Int32.self)[row] }

    func payload(_ row: Int) -> Column<UInt8> { payloads[row] }

    var payloads: LeafTexts { LeafTexts(block: block, start: firstText + block.wordBytes, ends: column(84, UInt32.self)) }

    /// The words of each row. They come before the payloads, so that the leaf's first bytes tell where they are.
    var texts: LeafTexts {
        LeafTexts(block: block, start: firstText, ends: column(88, UInt32.self, rows: block.wordBytes == 0 ? 0 : count))
    }

    /// The words of all rows.
    var words: Column<UInt8> { texts.bytes(0..<block.wordBytes) }

    /// The row of an id. A scan, because its loads do not wait for each other.
    func row(of id: Int64) -> Int? {
        let ids = column(56, Int64.self)
        return (0..<count).first { ids[$0] == id }
    }

    /// The first row that comes after a place in the order of the rows.
    func firstRow(after place: (Int64, Int64)) -> Int {
        (0..<count).partitioningIndex { place < (~ends[$0], id($0)) }
    }

    subscript(row: Int) -> Row {
        Row(
            id: id(row), tag: tag(row), note: note(row), version: version(row), location: location(row), payload: payload(row),
            words: texts[row])
    }

    /// The box around one point.
    /// - Parameter count: ``count``, as in ``forEachRow(of:overlapping:_:)``
    func degrees(_ row: Int, of count: Int) -> DegreeBox {
        let (latitudes, longitudes) = (column(24, Double.self, rows: count), column(32, Double.self, rows: count))
        return DegreeBox(south: latitudes[row], west: longitudes[row], north: latitudes[row], east: longitudes[row])
    }

    /// - Parameter count: ``count``, as in ``forEachRow(of:overlapping:_:)``
    func vector(_ row: Int, of count: Int) -> UnitVector {
        UnitVector(
            x: column(0, Double.self, rows: count)[row], y: column(8, Double.self, rows: count)[row],
            z: column(16, Double.self, rows: count)[row])
    }

    func location(_ row: Int) -> PointIndex.Location {
        PointIndex.Location(
            latitude: latitudes[row], longitude: longitudes[row], vector: vector(row, of: count), span: starts[row]...ends[row])
    }

    var latitudes: Column<Double> { column(24, Double.self) }
    var longitudes: Column<Double> { column(32, Double.self) }
    var starts: Column<Int64> { column(40, Int64.self) }
    var ends: Column<Int64> { column(48, Int64.self) }

    /// The leaf has at least one row.
    var bounds: Bounds {
        func limits(_ offset: Int) -> Limits<Double> { Limits(column(offset, Double.self)) }
        let (x, y, z, latitude, longitude) = (limits(0), limits(8), limits(16), limits(24), limits(32))
        return Bounds(
            count: count,
            box: Box(low: UnitVector(x: x.low, y: y.low, z: z.low), high: UnitVector(x: x.high, y: y.high, z: z.high)),
            degrees: DegreeBox(south: latitude.low, west: longitude.low, north: latitude.high, east: longitude.high),
            starts: Limits(starts), ends: Limits(low: ends[count - 1], high: ends[0]))
    }

    /// Calls a closure with each row that overlaps a window in time.
    /// - Parameter count: ``count``, which the parent stores too. With that number, no load waits for the leaf's first bytes.
    @inline(__always)
    func forEachRow(of count: Int, overlapping window: ClosedRange<Int64>, _ body: (Int) -> Void) {
        let (starts, ends) = (column(40, Int64.self, rows: count), column(48, Int64.self, rows: count))
        for row in 0..<count {
            guard ends[row] >= window.lowerBound else { return }
            if starts[row] <= window.upperBound { body(row) }
        }
    }

    /// Computes one number for each row. The loop has no condition, so that the compiler can vectorise it.
    func squaredChords(to centre: UnitVector, into chords: Column<Double>) {
        let (xs, ys, zs) = (column(0, Double.self), column(8, Double.self), column(16, Double.self))
        for row in 0..<count {
            chords[row] = UnitVector.squaredLength(xs[row] - centre.x, ys[row] - centre.y, zs[row] - centre.z)
        }
    }

    @inline(__always)
    private func column<Value: BitwiseCopyable>(_ offset: Int, _: Value.Type) -> Column<Value> {
        column(offset, Value.self, rows: count)
    }

    /// - Parameter offset: bytes of one row in all columns before this one
    @inline(__always)
    private func column<Value: BitwiseCopyable>(_ offset: Int, _: Value.Type, rows: Int) -> Column<Value> {
        block.column(after: Self.headBytes, offset, count: rows)
    }
}

/// Writing, only while the leaf is made, and in the order of the rows: each text follows the text of the row before.
extension Leaf {
    func write(_ new: Row, at row: Int) {
        column(0, Double.self)[row] = new.location.vector.x
        column(8, Double.self)[row] = new.location.vector.y
        column(16, Double.self)[row] = new.location.vector.z
        latitudes[row] = new.location.latitude
        longitudes[row] = new.location.longitude
        starts[row] = new.location.span.lowerBound
        ends[row] = new.location.span.upperBound
        column(56, Int64.self)[row] = new.id
        column(64, Int64.self)[row] = new.tag
        column(72, UInt64.self)[row] = new.note
        column(80, Int32.self)[row] = new.version
        payloads.write(new.payload, at: row)
        texts.write(new.words, at: row)
    }

    func write(_ rows: Range<Int>, of other: Leaf, at row: Int) {
        func copy<Value: BitwiseCopyable>(_ offset: Int, _: Value.Type) {
            column(offset, Value.self)[row..<row + rows.count].copy(other.column(offset, Value.self)[rows])
        }
        // All columns before the versions have values of 8 bytes.
        for offset in stride(from: 0, to: 80, by: 8) { copy(offset, UInt64.self) }
        copy(80, Int32.self)
        payloads.write(rows, of: other.payloads, at: row)
        texts.write(rows, of: other.texts, at: row)
    }
}

extension RandomAccessCollection {
    /// The first index at which the predicate holds, by binary search. The predicate must hold for all later elements too.
    @inlinable package func partitioningIndex(where isBehind: (Element) -> Bool) -> Index {
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

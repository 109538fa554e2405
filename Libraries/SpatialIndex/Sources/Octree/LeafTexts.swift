/// A text of each row of a leaf, one behind another, in the order of the rows.
struct LeafTexts {
    let block: Block
    /// Where the first text begins in the block.
    let start: Int
    /// Where each text ends, behind ``start``. Empty if no row has a text.
    let ends: Column<UInt32>

    subscript(row: Int) -> Column<UInt8> { bytes(range(row..<row + 1)) }

    func range(_ rows: Range<Int>) -> Range<Int> {
        func start(_ row: Int) -> Int { row == 0 ? 0 : Int(end(row - 1)) }
        return start(rows.lowerBound)..<start(rows.upperBound)
    }

    func bytes(_ range: Range<Int>) -> Column<UInt8> { block.column(after: start + range.lowerBound, count: range.count) }

    private func end(_ row: Int) -> UInt32 { ends.count == 0 ? 0 : ends[row] }

    func write(_ text: Column<UInt8>, at row: Int) {
        guard ends.count > 0 else { return }
        let start = range(0..<row).upperBound
        ends[row] = UInt32(start + text.count)
        bytes(start..<start + text.count).copy(text)
    }

    func write(_ rows: Range<Int>, of other: Self, at row: Int) {
        guard ends.count > 0 else { return }
        let start = range(0..<row).upperBound
        let range = other.range(rows)
        // Modulo 2³², because a text may move towards the beginning of the leaf.
        let shift = UInt32(truncatingIfNeeded: start - range.lowerBound)
        for index in 0..<rows.count { ends[row + index] = other.end(rows.lowerBound + index) &+ shift }
        bytes(start..<start + range.count).copy(other.bytes(range))
    }
}

/// A change of one row of a leaf.
struct LeafEdit {
    var key: LeafKey
    /// nil if the row is removed.
    var row: Leaf.Row?
}

extension Child<Leaf> {
    /// - Parameter rows: in their order
    init(_ rows: some RandomAccessCollection<Leaf.Row>, low: LeafKey, _ blocks: inout RetiredBlocks) {
        let leaf = Leaf(
            count: rows.count, payloadBytes: rows.reduce(0) { $0 + $1.payload.count },
            wordBytes: rows.reduce(0) { $0 + $1.words.count }, &blocks)
        for (index, row) in rows.enumerated() { leaf.write(row, at: index) }
        self.init(node: leaf, low: low, bounds: leaf.bounds)
    }

    /// Makes as many leaves as the rows need. Each has at least one row.
    static func leaves(of rows: [Leaf.Row], _ blocks: inout RetiredBlocks) -> [Self] {
        let order = rows.indices.map { (key: rows[$0].key, index: $0) }.sorted { $0.key < $1.key }
        var leaves: [Self] = []
        var ends = [order.count]
        var start = 0
        while let end = ends.last {
            if end - start > Leaf.capacity {
                ends.append(cut(start..<end) { order[$0 - 1].key.cell.sharedBits(with: order[$0].key.cell) })
            } else {
                let own = order[start..<end].map { rows[$0.index] }.sorted { $0.order < $1.order }
                leaves.append(Self(own, low: order[start].key, &blocks))
                ends.removeLast()
                start = end
            }
        }
        return leaves
    }

    /// Chooses the index at which to divide a range in two, so that the boxes of both parts are small. The index is near the
    /// middle, and between the two cells with the largest common ancestor in the octree.
    private static func cut(_ range: Range<Int>, sharedBits: (Int) -> Int) -> Int {
        let middle = range.lowerBound + range.count / 2
        let reach = range.count / 6
        return (middle - reach...middle + reach).min { left, right in
            (sharedBits(left), abs(left - middle)) < (sharedBits(right), abs(right - middle))
        } ?? middle
    }
}

/// A part of a new leaf: contiguous rows of the old leaf, and at most one new row behind them.
private struct Piece {
    var kept: Range<Int>
    var new: Leaf.Row?

    var count: Int { kept.count + (new == nil ? 0 : 1) }

    func payloadBytes(in leaf: Leaf) -> Int { leaf.payloads.range(kept).count + (new?.payload.count ?? 0) }

    func wordBytes(in leaf: Leaf) -> Int { leaf.texts.range(kept).count + (new?.words.count ?? 0) }

    func rows(in leaf: Leaf) -> [Leaf.Row] { kept.map { leaf[$0] } + [new].compactMap { $0 } }
}

extension Leaf: TreeNode {
    func edited(by edits: ArraySlice<LeafEdit>, low: LeafKey, _ blocks: inout RetiredBlocks) -> [Child<Leaf>] {
        let pieces = pieces(after: edits)
        let count = pieces.reduce(0) { $0 + $1.count }
        blocks.replace(block, bytes)
        if count == 0 { return [] }
        if count > Leaf.capacity { return Child.leaves(of: pieces.flatMap { $0.rows(in: self) }, &blocks) }
        let new = Leaf(
            count: count, payloadBytes: pieces.reduce(0) { $0 + $1.payloadBytes(in: self) },
            wordBytes: pieces.reduce(0) { $0 + $1.wordBytes(in: self) }, &blocks)
        var row = 0
        for piece in pieces {
            new.write(piece.kept, of: self, at: row)
            if let added = piece.new { new.write(added, at: row + piece.kept.count) }
            row += piece.count
        }
        return [Child(node: new, low: low, bounds: new.bounds)]
    }

    func joined(with next: Leaf, low: LeafKey, _ blocks: inout RetiredBlocks) -> Child<Leaf> {
        let rows = (0..<count).map { self[$0] } + (0..<next.count).map { next[$0] }
        return Child(rows.sorted { $0.order < $1.order }, low: low, &blocks)
    }

    /// The parts of the new leaf, in the order of its rows.
    private func pieces(after edits: ArraySlice<LeafEdit>) -> [Piece] {
        // A point that moves within the leaf has two edits for one row.
        var removed = edits.compactMap { row(of: $0.key.id) }
        var added = edits.compactMap(\.row)
        if edits.count > 1 {
            removed = Set(removed).sorted()
            added.sort { $0.order < $1.order }
        }
        var pieces: [Piece] = []
        pieces.reserveCapacity(edits.count + 1)
        var next = 0
        func keep(until row: Int, then new: Leaf.Row? = nil) {
            if next < row || new != nil { pieces.append(Piece(kept: next..<row, new: new)) }
            next = row
        }
        var rest = removed[...]
        for new in added {
            let place = firstRow(after: new.order)
            while let row = rest.first, row < place {
                keep(until: row)
                next = row + 1
                rest = rest.dropFirst()
            }
            keep(until: max(next, place), then: new)
        }
        for row in rest {
            keep(until: row)
            next = row + 1
        }
        keep(until: count)
        return pieces
    }
}

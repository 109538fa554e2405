extension Leaf {
    /// What becomes of it: nothing, a leaf, or as many as it takes. The edits are by key.
    func edited(by edits: ArraySlice<LeafEdit>) -> [Leaf] {
        withExtendedLifetime(self) {
            let rows = rows(after: edits)
            let low = edits.first.map { min(self.low, $0.key) } ?? self.low
            if rows.isEmpty { return [] }
            return rows.count <= Self.capacity ? [Leaf(rows, low: low)] : Self.leaves(of: rows, low: low)
        }
    }

    func joined(with next: Leaf) -> Leaf {
        withExtendedLifetime((self, next)) {
            let rows = (0..<count).map { self[$0] } + (0..<next.count).map { next[$0] }
            return Leaf(rows.sorted { $0.id < $1.id }, low: low)
        }
    }

    /// By id.
    private func rows(after edits: ArraySlice<LeafEdit>) -> [Row] {
        // An event that moves within the leaf leaves it before it comes in.
        let edits = edits.sorted { ($0.key.id, $0.row == nil ? 0 : 1) < ($1.key.id, $1.row == nil ? 0 : 1) }
        var rows: [Row] = []
        rows.reserveCapacity(count + edits.count)
        var next = 0
        for edit in edits {
            while next < count, id(next) < edit.key.id {
                rows.append(self[next])
                next += 1
            }
            if next < count, id(next) == edit.key.id { next += 1 }
            if let row = edit.row { rows.append(row) }
        }
        while next < count {
            rows.append(self[next])
            next += 1
        }
        return rows
    }

    private static func leaves(of rows: [Row], low: LeafKey) -> [Leaf] {
        let order = rows.indices.map { (key: rows[$0].key, index: $0) }.sorted { $0.key < $1.key }
        var leaves: [Leaf] = []
        var ends = [order.count]
        var start = 0
        while let end = ends.last {
            if end - start > capacity {
                ends.append(cut(start..<end) { order[$0 - 1].key.cell.sharedBits(with: order[$0].key.cell) })
            } else {
                // Rows are by id, and so are their indices.
                let own = order[start..<end].map(\.index).sorted().map { rows[$0] }
                leaves.append(Leaf(own, low: start == 0 ? low : order[start].key))
                ends.removeLast()
                start = end
            }
        }
        return leaves
    }

    /// Where to cut in two: not far from the middle, and between cells that are as far up the octree apart as can be, so that the
    /// boxes of both parts are small.
    private static func cut(_ range: Range<Int>, sharedBits: (Int) -> Int) -> Int {
        let middle = range.lowerBound + range.count / 2
        let reach = range.count / 6
        return (middle - reach...middle + reach).min { left, right in
            (sharedBits(left), abs(left - middle)) < (sharedBits(right), abs(right - middle))
        } ?? middle
    }
}

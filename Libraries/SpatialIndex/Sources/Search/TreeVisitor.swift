/// A search that walks down the tree.
protocol TreeVisitor {
    /// What points must have.
    var filter: PointFilter { get }

    /// Chooses what the search does with a child, from the bounds that the parent stores. The walk may ask again for a child that is
    /// not skipped.
    mutating func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep

    /// - Parameter count: the leaf's number of rows
    /// - Returns: the number of points that the search takes from the leaf
    mutating func visit(_ leaf: Leaf, of count: Int, _ step: TreeStep) -> Int
}

enum TreeStep {
    case skip
    /// Some points of the node may pass the filter.
    case filter
    /// All points of the node are in the box and in the window.
    case take
}

/// Selects the points in a box with spans that overlap a window, and with some words.
struct PointFilter {
    var box: DegreeBox
    var window: ClosedRange<Int64>
    var words: PointIndex.WordQuery?

    func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep {
        let degrees = children.degrees(index)
        if !box.overlaps(degrees) || children.isOutside(window, index) { return .skip }
        return box.contains(degrees) && children.isInside(window, index) ? .take : .filter
    }

    func contains(_ row: Int, of leaf: Leaf) -> Bool {
        guard (leaf.starts[row]...leaf.ends[row]).overlaps(window), box.contains(leaf.degrees(row, of: leaf.count)) else {
            return false
        }
        return words?.matches(leaf.texts[row]) ?? true
    }

    /// Calls a closure with each row of a leaf that passes the filter.
    /// - Parameter step: what the search chose for the leaf
    @inline(__always)
    func forEachRow(of leaf: Leaf, _ count: Int, _ step: TreeStep, _ body: (Int) -> Void) {
        var rows = words?.rows(of: leaf) ?? .max
        if rows == 0 { return }
        if step != .take {
            var inside = UInt64(0)
            leaf.forEachRow(of: count, overlapping: window) { row in
                if box.contains(leaf.degrees(row, of: count)) { inside |= 1 &<< UInt64(row) }
            }
            rows &= inside
        }
        rows &= .max >> UInt64(Leaf.capacity - count)
        while rows != 0 {
            body(rows.trailingZeroBitCount)
            rows &= rows &- 1
        }
    }
}

extension Children {
    func walk(
        from key: LeafKey?, of _: Int, _: TreeStep, _ visitor: inout some TreeVisitor, _ work: inout VisitBudget
    ) -> LeafKey? {
        var key = key
        let candidates = visitor.filter.words.map(self.candidates) ?? .max
        for index in (key.map(index(for:)) ?? 0)..<count {
            if work.isUsedUp { return lows[index] }
            // A node in which the walk goes on is not skipped, and a visitor may choose that again.
            let step = candidates &>> UInt64(index) & 1 == 1 ? visitor.step(self, index) : .skip
            work.looked(atChildren: 1)
            if step != .skip, let rest = node(index).walk(from: key, of: counts[index], step, &visitor, &work) { return rest }
            key = nil
        }
        return nil
    }
}

extension Leaf {
    func walk(
        from _: LeafKey?, of count: Int, _ step: TreeStep, _ visitor: inout some TreeVisitor, _ work: inout VisitBudget
    ) -> LeafKey? {
        work.read(leaves: 1)
        if let words = visitor.filter.words { work.searched(bytes: words.bytes(of: self.words)) }
        work.took(points: visitor.visit(self, of: count, step))
        return nil
    }
}

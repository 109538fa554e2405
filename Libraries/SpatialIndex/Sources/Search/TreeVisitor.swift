/// A search that walks down the tree.
protocol TreeVisitor {
    /// Chooses what the search does with a child, from the bounds that the parent stores.
    mutating func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep

    /// - Parameter count: the leaf's number of rows
    /// - Returns: the number of points that the search takes from the leaf
    mutating func visit(_ leaf: Leaf, of count: Int, _ step: TreeStep) -> Int
}

enum TreeStep {
    case skip
    /// Some points of the node may pass the filter.
    case filter
    /// All points of the node pass the filter.
    case take
}

/// Selects the points in a box with spans that overlap a window.
struct PointFilter {
    var box: DegreeBox
    var window: ClosedRange<Int64>

    func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep {
        let degrees = children.degrees(index)
        if !box.overlaps(degrees) || children.isOutside(window, index) { return .skip }
        return box.contains(degrees) && children.isInside(window, index) ? .take : .filter
    }

    func contains(_ row: Int, of leaf: Leaf) -> Bool {
        leaf.overlaps(window, row) && box.contains(latitude: leaf.latitudes[row], longitude: leaf.longitudes[row])
    }

    /// Calls a closure with each row of a leaf that passes the filter.
    /// - Parameter step: what the search chose for the leaf
    @inline(__always)
    func forEachRow(of leaf: Leaf, _ count: Int, _ step: TreeStep, _ body: (Int) -> Void) {
        leaf.forEachRow(of: count, overlapping: window) { row in
            if step == .take || leaf.isInside(box, row, of: count) { body(row) }
        }
    }
}

/// A walk down the tree to the leaves, in the order of their keys, which can pause and go on later.
struct TreeWalk: Sendable {
    private var outer = 0
    /// The next child of the outer node; `nil` before the walk enters that node.
    private var inner: Int?
    /// The next child of the inner node; `nil` before the walk enters that node.
    private var leaf: Int?

    /// Walks on until the end, or until the work is used up.
    /// - Returns: whether the walk is at its end
    mutating func advance(
        through root: Children<OuterNode>, _ visitor: inout some TreeVisitor, _ work: inout VisitBudget
    ) -> Bool {
        while outer < root.count {
            if work.isUsedUp { return false }
            if inner == nil, visitor.step(root, outer) != .skip { inner = 0 }
            work.looked(atChildren: 1)
            if inner != nil, !advance(through: root.node(outer), &visitor, &work) { return false }
            (outer, inner) = (outer + 1, nil)
        }
        return true
    }

    private mutating func advance(
        through node: OuterNode, _ visitor: inout some TreeVisitor, _ work: inout VisitBudget
    ) -> Bool {
        while let index = inner, index < node.count {
            if work.isUsedUp { return false }
            if leaf == nil, visitor.step(node, index) != .skip { leaf = 0 }
            work.looked(atChildren: 1)
            if leaf != nil, !advance(through: node.node(index), &visitor, &work) { return false }
            (inner, leaf) = (index + 1, nil)
        }
        return true
    }

    private mutating func advance(
        through node: InnerNode, _ visitor: inout some TreeVisitor, _ work: inout VisitBudget
    ) -> Bool {
        while let index = leaf, index < node.count {
            if work.isUsedUp { return false }
            let step = visitor.step(node, index)
            work.looked(atChildren: 1)
            if step != .skip {
                work.read(leaves: 1)
                work.took(points: visitor.visit(node.node(index), of: node.count(index), step))
            }
            leaf = index + 1
        }
        return true
    }
}

/// A search that walks down the tree.
protocol TreeVisitor {
    /// Chooses what the search does with a child, from the bounds that the parent stores.
    mutating func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep

    /// - Parameter count: the leaf's number of rows
    mutating func visit(_ leaf: Leaf, of count: Int, _ step: TreeStep)

    /// Whether the search is over before the walk is.
    var isStopped: Bool { get }
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

extension Children {
    /// Visits the leaves of the node, in the order of their keys.
    func accept(_ visitor: inout some TreeVisitor) {
        for index in 0..<count {
            if visitor.isStopped { return }
            let step = visitor.step(self, index)
            if step != .skip { node(index).accept(&visitor, count(index), step) }
        }
    }

    func accept(_ visitor: inout some TreeVisitor, _: Int, _: TreeStep) { accept(&visitor) }
}

extension Leaf {
    func accept(_ visitor: inout some TreeVisitor, _ count: Int, _ step: TreeStep) { visitor.visit(self, of: count, step) }
}

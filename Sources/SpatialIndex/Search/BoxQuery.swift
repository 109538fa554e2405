/// A search for the points in a box, in the order of their ids.
public struct BoxQuery: Sendable, Hashable {
    public var box: DegreeBox
    /// The search finds points with spans that overlap the window; `nil` finds points of any time.
    public var window: ClosedRange<Int64>?
    /// Maximum number of results.
    public var limit: Int
    /// Only points with larger ids are found.
    public var after: Int64?

    public init(box: DegreeBox, window: ClosedRange<Int64>? = nil, limit: Int, after: Int64? = nil) {
        self.box = box
        self.window = window
        self.limit = limit
        self.after = after
    }
}

extension PointIndex.Snapshot {
    /// Finds the points in a box.
    public func points(in query: BoxQuery) -> PointIndex.Page {
        var search = BoxSearch(query, visits: .max)
        return withExtendedLifetime(self) { search.page(of: self) }
    }

    /// Finds the points in a box.
    /// - Parameter visits: the largest number of leaves that the search may read
    /// - Returns: nil if the search needs more visits; its work until then is in proportion to them
    public func points(in query: BoxQuery, visits: Int) -> PointIndex.Page? {
        var search = BoxSearch(query, visits: visits)
        let page = withExtendedLifetime(self) { search.page(of: self) }
        return search.isStopped ? nil : page
    }
}

/// The state of one search.
///
/// A box with a large part of all points has too many to read them all for one page. Then the search goes through the ids in their
/// order instead. It stops that when it would become longer than the walk down the tree, so it takes at most twice the
/// time of the shorter way.
private struct BoxSearch: TreeVisitor {
    /// A walk through the ids is judged after this number of ids.
    private static let firstIDs = 32
    /// One step in the order of ids takes as long as this number of leaves in the order of the tree.
    private static let leavesPerID = 2

    private let filter: PointFilter
    private let limit: Int
    private let after: Int64?
    private var visits: Int
    /// The largest id that a result can still have.
    private var bound = Int64.max
    private var hits: [PointIndex.Page.Hit] = []
    private var leaves: [Leaf] = []

    init(_ query: BoxQuery, visits: Int) {
        filter = PointFilter(box: query.box, window: query.window ?? .min ... .max)
        limit = query.limit
        after = query.after
        self.visits = visits
    }

    var isStopped: Bool { visits < 0 }

    mutating func page(of snapshot: PointIndex.Snapshot) -> PointIndex.Page {
        if !walkIDs(of: snapshot) {
            (hits, leaves) = ([], [])
            if after != .max { snapshot.root.accept(&self) }
        }
        return PointIndex.Page(snapshot: snapshot, hits: hits, leaves: leaves, limit: limit)
    }

    mutating func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep { filter.step(children, index) }

    mutating func visit(_ leaf: Leaf, of count: Int, _ step: TreeStep) {
        visits -= 1
        let before = hits.count
        let first = after.map { $0 + 1 } ?? .min
        filter.forEachRow(of: leaf, count, step) { row in
            if leaf.id(row) <= bound && leaf.id(row) >= first { add(row, of: leaf) }
        }
        guard hits.count > before else { return }
        leaves.append(leaf)
        // See OutwardSearch.
        let enough = limit + 1
        if hits.count >= 2 * enough {
            hits.keepSmallest(enough)
            bound = hits.reduce(.min) { max($0, $1.id) }
        }
    }

    /// Goes through the ids in their order.
    /// - Returns: false if that takes longer than the walk down the tree
    private mutating func walkIDs(of snapshot: PointIndex.Snapshot) -> Bool {
        let enough = limit + 1
        let maximum = min(leavesAtMost(in: snapshot) / Self.leavesPerID, visits)
        guard enough <= maximum else { return false }
        var ids = 0
        let isComplete = snapshot.cells.forEach(after: after) { id, cell in
            guard let (leaf, row) = snapshot.find(id, in: cell) else { return true }
            ids += 1
            if filter.contains(row, of: leaf) {
                add(row, of: leaf)
                leaves.append(leaf)
            }
            let isPromising = ids < Self.firstIDs || ids * enough <= hits.count * maximum
            return hits.count < enough && ids < maximum && isPromising
        }
        visits -= ids
        return isComplete || hits.count == enough
    }

    /// About the number of leaves that the walk down the tree reads. It looks at the nodes below the root.
    private func leavesAtMost(in snapshot: PointIndex.Snapshot) -> Int {
        var points = 0
        for outer in 0..<snapshot.root.count {
            switch filter.step(snapshot.root, outer) {
            case .skip: continue
            case .take: points += snapshot.root.count(outer)
            case .filter:
                let node = snapshot.root.node(outer)
                for inner in 0..<node.count where filter.step(node, inner) != .skip { points += node.count(inner) }
            }
        }
        return points / (Leaf.capacity * 3 / 4)
    }

    private mutating func add(_ row: Int, of leaf: Leaf) {
        let id = leaf.id(row)
        hits.append(PointIndex.Page.Hit(rank: Double(id), id: id, leaf: Int32(leaves.count), row: Int32(row)))
    }
}

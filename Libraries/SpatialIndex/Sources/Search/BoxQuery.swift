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
    /// Begins a search for the points in a box.
    public func search(_ query: BoxQuery) -> BoxedSearch { BoxedSearch(query, self) }
}

/// A search for the points in a box.
///
/// A box with a large part of all points has too many to read them all for one page. Then the search goes through the ids in their
/// order instead. It stops that when it would become longer than the walk down the tree, so it takes at most twice the
/// time of the shorter way.
public struct BoxedSearch: PointSearch {
    private enum Way {
        case undecided
        case ids(IDWalk)
        case tree(TreeWalk)
    }

    private let snapshot: PointIndex.Snapshot
    private let limit: Int
    private var way = Way.undecided
    private var hits: BoxHits

    init(_ query: BoxQuery, _ snapshot: PointIndex.Snapshot) {
        self.snapshot = snapshot
        limit = query.limit
        hits = BoxHits(query)
    }

    public mutating func part(visits: Int) -> PointIndex.Page? {
        var work = VisitBudget(visits: visits)
        let isOver = withExtendedLifetime(snapshot) { advance(&work) }
        return isOver ? PointIndex.Page(snapshot: snapshot, hits: hits.hits, leaves: hits.leaves, limit: limit) : nil
    }

    private mutating func advance(_ work: inout VisitBudget) -> Bool {
        if case .undecided = way { way = IDWalk(of: snapshot, hits, &work).map(Way.ids) ?? .tree(TreeWalk()) }
        if case .ids(var walk) = way {
            let outcome = walk.advance(through: snapshot, &hits, &work)
            way = .ids(walk)
            switch outcome {
            case .paused: return false
            case .found: return true
            case .tooLong:
                hits.removeAll()
                way = .tree(TreeWalk())
            }
        }
        guard case .tree(var walk) = way, hits.after != .max else { return true }
        defer { way = .tree(walk) }
        return walk.advance(through: snapshot.root, &hits, &work)
    }
}

/// The points that a search has found.
private struct BoxHits: TreeVisitor, Sendable {
    let filter: PointFilter
    let after: Int64?
    /// One hit more than the limit tells whether there is another page.
    let enough: Int
    /// The largest id that a result can still have.
    private var bound = Int64.max
    private(set) var hits: [PointIndex.Page.Hit] = []
    private(set) var leaves: [Leaf] = []

    init(_ query: BoxQuery) {
        filter = PointFilter(box: query.box, window: query.window ?? .min ... .max)
        after = query.after
        enough = query.limit + 1
    }

    mutating func step<Node>(_ children: Children<Node>, _ index: Int) -> TreeStep { filter.step(children, index) }

    mutating func visit(_ leaf: Leaf, of count: Int, _ step: TreeStep) -> Int {
        let before = hits.count
        let first = after.map { $0 + 1 } ?? .min
        filter.forEachRow(of: leaf, count, step) { row in
            if leaf.id(row) <= bound && leaf.id(row) >= first { add(row, of: leaf) }
        }
        let found = hits.count - before
        guard found > 0 else { return 0 }
        leaves.append(leaf)
        // See NearestSearch.
        if hits.count >= 2 * enough {
            hits.keepSmallest(enough)
            bound = hits.reduce(.min) { max($0, $1.id) }
        }
        return found
    }

    /// Adds a point of a leaf if it passes the filter.
    mutating func visit(_ row: Int, of leaf: Leaf) {
        guard filter.contains(row, of: leaf) else { return }
        add(row, of: leaf)
        leaves.append(leaf)
    }

    mutating func removeAll() { (hits, leaves) = ([], []) }

    private mutating func add(_ row: Int, of leaf: Leaf) {
        let id = leaf.id(row)
        hits.append(PointIndex.Page.Hit(rank: Double(id), id: id, leaf: Int32(leaves.count), row: Int32(row)))
    }
}

/// A walk through the ids in their order.
private struct IDWalk: Sendable {
    enum Outcome {
        case paused
        case found
        /// The walk down the tree takes less time.
        case tooLong
    }

    /// A walk through the ids is judged after this number of ids.
    private static let firstIDs = 32
    /// One step in the order of ids takes as long as this number of leaves in the order of the tree.
    private static let leavesPerID = 2

    /// With this number of ids the walk takes as long as the walk down the tree.
    private let maximum: Int
    private var ids = 0
    private var after: Int64?

    /// - Returns: `nil` if the walk is certainly too long
    init?(of snapshot: PointIndex.Snapshot, _ hits: BoxHits, _ work: inout VisitBudget) {
        maximum = Self.leavesAtMost(in: snapshot, hits.filter, &work) / Self.leavesPerID
        after = hits.after
        if hits.enough > maximum { return nil }
    }

    mutating func advance(
        through snapshot: PointIndex.Snapshot, _ hits: inout BoxHits, _ work: inout VisitBudget
    ) -> Outcome {
        if work.isUsedUp { return .paused }
        let isComplete = snapshot.cells.forEach(after: after) { id, cell in
            after = id
            guard let (leaf, row) = snapshot.find(id, in: cell) else { return true }
            ids += 1
            work.read(leaves: Self.leavesPerID)
            hits.visit(row, of: leaf)
            return hits.hits.count < hits.enough && isPromising(hits) && !work.isUsedUp
        }
        if isComplete || hits.hits.count == hits.enough { return .found }
        return isPromising(hits) ? .paused : .tooLong
    }

    private func isPromising(_ hits: BoxHits) -> Bool {
        ids < maximum && (ids < Self.firstIDs || ids * hits.enough <= hits.hits.count * maximum)
    }

    /// About the number of leaves that the walk down the tree reads. It looks at the nodes below the root.
    private static func leavesAtMost(
        in snapshot: PointIndex.Snapshot, _ filter: PointFilter, _ work: inout VisitBudget
    ) -> Int {
        var points = 0
        work.looked(atChildren: snapshot.root.count)
        for outer in 0..<snapshot.root.count {
            switch filter.step(snapshot.root, outer) {
            case .skip: continue
            case .take: points += snapshot.root.count(outer)
            case .filter:
                let node = snapshot.root.node(outer)
                work.looked(atChildren: node.count)
                for inner in 0..<node.count where filter.step(node, inner) != .skip { points += node.count(inner) }
            }
        }
        return points / (Leaf.capacity * 3 / 4)
    }
}

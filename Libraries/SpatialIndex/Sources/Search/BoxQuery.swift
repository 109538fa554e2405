/// A search for the points in a box, in the order of their ids.
public struct BoxQuery: Sendable, Hashable {
    public var box: DegreeBox
    /// The search finds points with spans that overlap the window; `nil` finds points of any time.
    public var window: ClosedRange<Int64>?
    /// Maximum number of results.
    public var limit: Int
    /// Only points with larger ids are found.
    public var after: Int64?
    /// Only points with these words are found; `nil` finds points with any words and without.
    public var words: PointIndex.WordQuery?

    public init(
        box: DegreeBox, window: ClosedRange<Int64>? = nil, limit: Int, after: Int64? = nil, words: PointIndex.WordQuery? = nil
    ) {
        self.box = box
        self.window = window
        self.limit = limit
        self.after = after
        self.words = words
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
    /// A walk through the ids is judged after this number of ids.
    private static let firstIDs = 32
    /// One step in the order of ids takes as long as this number of leaves in the order of the tree.
    private static let leavesPerID = 2

    private let snapshot: PointIndex.Snapshot
    private var hits: BoxHits
    private var hasBegun = false
    /// With this number of ids, the walk through them takes as long as the walk down the tree; 0 chooses the tree.
    private var maximumIDs = 0
    private var ids = 0
    private var lastID: Int64?
    /// Where the walk down the tree goes on.
    private var next: LeafKey?

    init(_ query: BoxQuery, _ snapshot: PointIndex.Snapshot) {
        self.snapshot = snapshot
        hits = BoxHits(query)
        lastID = query.after
    }

    public mutating func part(visits: Int) -> PointIndex.Page? {
        var work = VisitBudget(visits: visits)
        let isOver = withExtendedLifetime(snapshot) { advance(&work) }
        return isOver ? PointIndex.Page(snapshot: snapshot, hits: hits.hits, leaves: hits.leaves, limit: hits.enough - 1) : nil
    }

    private mutating func advance(_ work: inout VisitBudget) -> Bool {
        if !hasBegun {
            hasBegun = true
            maximumIDs = leavesAtMost(&work) / Self.leavesPerID
        }
        if goesByID {
            let isComplete = !work.isUsedUp && walkByID(&work)
            if isComplete || hits.hits.count == hits.enough { return true }
            if goesByID { return false }
            hits.removeAll()
            maximumIDs = 0
        }
        guard hits.after != .max else { return true }
        next = snapshot.root.walk(from: next, of: snapshot.count, .filter, &hits, &work)
        return next == nil
    }

    /// Whether the walk through the ids seems to be the shorter way.
    private var goesByID: Bool {
        guard hits.enough <= maximumIDs, ids < maximumIDs else { return false }
        return ids < Self.firstIDs || ids * hits.enough <= hits.hits.count * maximumIDs
    }

    /// - Returns: whether no id is left
    private mutating func walkByID(_ work: inout VisitBudget) -> Bool {
        snapshot.cells.forEach(after: lastID) { id, cell in
            lastID = id
            guard let (leaf, row) = snapshot.find(id, in: cell) else { return true }
            ids += 1
            work.read(leaves: Self.leavesPerID)
            if let words = hits.filter.words { work.searched(bytes: words.bytes(of: leaf.texts[row])) }
            hits.visit(row, of: leaf)
            return hits.hits.count < hits.enough && goesByID && !work.isUsedUp
        }
    }

    /// About the number of leaves that the walk down the tree reads. It looks at the nodes below the root.
    private func leavesAtMost(_ work: inout VisitBudget) -> Int {
        let root = snapshot.root
        var points = 0
        work.looked(atChildren: root.count)
        for outer in 0..<root.count {
            switch hits.filter.step(root, outer) {
            case .skip: continue
            case .take: points += root.counts[outer]
            case .filter:
                let node = root.node(outer)
                work.looked(atChildren: node.count)
                for inner in 0..<node.count where hits.filter.step(node, inner) != .skip { points += node.counts[inner] }
            }
        }
        return points / (Leaf.capacity * 3 / 4)
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
        filter = PointFilter(box: query.box, window: query.window ?? .min ... .max, words: query.words)
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

internal import HeapModule

extension PointIndex.Snapshot {
    /// Finds the points nearest to a centre.
    ///
    /// The search goes outwards: it always visits the node whose box is nearest, until no further node can hold a result.
    public func nearest(_ query: NearestQuery) -> PointIndex.Page {
        var search = OutwardSearch(query)
        return withExtendedLifetime(self) { search.page(of: self) }
    }
}

/// The state of one search.
private struct OutwardSearch {
    /// A node that may hold results, and the squared chord to the nearest point of its box.
    private struct Candidate: Comparable {
        enum Node {
            case outer(OuterNode)
            case inner(InnerNode)
            case leaf(Leaf)
        }

        var nearest: Double
        var node: Node

        static func == (left: Self, right: Self) -> Bool { left.nearest == right.nearest }
        static func < (left: Self, right: Self) -> Bool { left.nearest < right.nearest }
    }

    private let centre: UnitVector
    private let limit: Int
    /// Results come after this place. No point has a squared chord below 0.
    private let after: (squaredChord: Double, id: Int64)
    /// The largest squared chord that a result can still have.
    private var bound: Double
    private var candidates = Heap<Candidate>(minimumCapacity: 64)
    private var hits: [PointIndex.Page.Hit] = []
    private var leaves: [Leaf] = []

    init(_ query: NearestQuery) {
        centre = query.centre
        limit = query.limit
        after = query.after.map { ($0.squaredChord, $0.id) } ?? (-1, 0)
        bound = query.squaredChord
        // Enough for the results of a typical map, so that the arrays do not grow.
        hits.reserveCapacity(64)
        leaves.reserveCapacity(16)
    }

    mutating func page(of snapshot: PointIndex.Snapshot) -> PointIndex.Page {
        let room = max(snapshot.root.count, OuterNode.capacity, InnerNode.capacity, Leaf.capacity)
        withUnsafeTemporaryAllocation(of: Double.self, capacity: room) { chords in
            consider(snapshot.root, chords) { .outer($0) }
            while let next = candidates.popMin(), next.nearest <= bound {
                switch next.node {
                case .outer(let outer): consider(outer, chords) { .inner($0) }
                case .inner(let inner): consider(inner, chords) { .leaf($0) }
                case .leaf(let leaf): look(into: leaf, chords)
                }
            }
        }
        hits.sortByDistance()
        let isLast = hits.count <= limit
        if !isLast { hits.removeLast(hits.count - limit) }
        let cursor = hits.last.map { NearestQuery.Cursor(squaredChord: $0.squaredChord, id: $0.id) }
        return PointIndex.Page(snapshot: snapshot, hits: hits, leaves: leaves, next: isLast ? nil : cursor)
    }

    private mutating func consider<Node>(
        _ children: Children<Node>, _ chords: UnsafeMutableBufferPointer<Double>, _ candidate: (Node) -> Candidate.Node
    ) {
        children.nearest(to: centre, into: chords)
        for index in 0..<children.count where chords[index] <= bound {
            if after.squaredChord > 0, children.farthest(index, from: centre) < after.squaredChord { continue }
            candidates.insert(Candidate(nearest: chords[index], node: candidate(children.node(index))))
        }
    }

    private mutating func look(into leaf: Leaf, _ chords: UnsafeMutableBufferPointer<Double>) {
        leaf.squaredChords(to: centre, into: chords)
        let number = Int32(leaves.count)
        let before = hits.count
        for row in 0..<leaf.count where chords[row] <= bound && chords[row] >= after.squaredChord {
            let hit = PointIndex.Page.Hit(squaredChord: chords[row], id: leaf.id(row), leaf: number, row: Int32(row))
            if (hit.squaredChord, hit.id) > after { hits.append(hit) }
        }
        guard hits.count > before else { return }
        leaves.append(leaf)
        // One hit more than the limit tells whether there is another page. The selection runs only when there are twice as many,
        // which costs a few comparisons for each hit.
        let enough = limit + 1
        if hits.count >= 2 * enough {
            hits.keepSmallest(enough)
            bound = hits.reduce(0) { max($0, $1.squaredChord) }
        }
    }
}

internal import HeapModule

extension PointIndex.Snapshot {
    /// Begins a search for the points nearest to a centre.
    public func search(_ query: NearestQuery) -> NearestSearch { NearestSearch(query, self) }
}

/// A search for the points nearest to a centre.
///
/// The search goes outwards: it always visits the node whose box is nearest, until no further node can hold a result.
public struct NearestSearch: PointSearch {
    /// A node that may hold results, and the squared chord to the nearest point of its box.
    private struct Candidate: Comparable, Sendable {
        enum Node {
            case outer(OuterNode)
            case inner(InnerNode)
            /// - Parameter mixed: the number of points if some of them may not overlap the window
            case leaf(Leaf, mixed: Int32?)
        }

        var nearest: Double
        var node: Node

        static func == (left: Self, right: Self) -> Bool { left.nearest == right.nearest }
        static func < (left: Self, right: Self) -> Bool { left.nearest < right.nearest }
    }

    private let snapshot: PointIndex.Snapshot
    private let centre: UnitVector
    private let window: ClosedRange<Int64>?
    private let words: PointIndex.WordQuery?
    /// One hit more than the limit tells whether there is another page.
    private let enough: Int
    /// The selection runs at this number of hits: first when there are enough, and then when there are half as many more, which
    /// costs a few comparisons for each hit.
    private var selectAt: Int
    /// Results come after this place. No point has a squared chord below 0.
    private let after: (squaredChord: Double, id: Int64)
    /// The largest squared chord that a result can still have, and the largest id at that chord.
    private var bound: Double
    private var lastID = Int64.max
    private var hasBegun = false
    private var candidates = Heap<Candidate>(minimumCapacity: 64)
    private var hits: [PointIndex.Page.Hit] = []
    private var leaves: [Leaf] = []

    init(_ query: NearestQuery, _ snapshot: PointIndex.Snapshot) {
        self.snapshot = snapshot
        centre = query.centre
        window = query.window
        words = query.words
        enough = query.limit + 1
        selectAt = enough
        after = query.after.map { ($0.squaredChord, $0.id) } ?? (-1, 0)
        bound = query.squaredChord
        // Enough for the results of a typical map, so that the arrays do not grow.
        hits.reserveCapacity(64)
        leaves.reserveCapacity(16)
    }

    public mutating func part(visits: Int) -> PointIndex.Page? {
        let snapshot = snapshot
        let isOver = withExtendedLifetime(snapshot) { visit(snapshot.root, VisitBudget(visits: visits)) }
        return isOver ? PointIndex.Page(snapshot: snapshot, hits: hits, leaves: leaves, limit: enough - 1) : nil
    }

    /// - Returns: whether no further node can hold a result
    private mutating func visit(_ root: Children<OuterNode>, _ work: VisitBudget) -> Bool {
        var work = work
        let room = max(root.count, OuterNode.capacity, InnerNode.capacity, Leaf.capacity)
        return withTemporaryColumn(of: Double.self, count: room) { chords in
            if !hasBegun {
                hasBegun = true
                consider(root, chords, &work) { node, _, _ in .outer(node) }
            }
            while let next = candidates.popMin(), next.nearest <= bound {
                switch next.node {
                case .outer(let outer): consider(outer, chords, &work) { node, _, _ in .inner(node) }
                case .inner(let inner):
                    consider(inner, chords, &work) { leaf, isMixed, index in
                        .leaf(leaf, mixed: isMixed ? Int32(inner.counts[index]) : nil)
                    }
                case .leaf(let leaf, let mixed): look(into: leaf, mixed: mixed, chords, &work)
                }
                if work.isUsedUp { return candidates.min.map { $0.nearest > bound } ?? true }
            }
            return true
        }
    }

    /// - Parameter candidate: gets a node, and whether it may have points outside of the window
    private mutating func consider<Node>(
        _ children: Children<Node>, _ chords: Column<Double>, _ work: inout VisitBudget,
        _ candidate: (Node, Bool, Int) -> Candidate.Node
    ) {
        work.looked(atChildren: children.count)
        let withWords = words.map(children.candidates) ?? .max
        if withWords == 0 { return }
        children.nearest(to: centre, into: chords)
        for index in 0..<children.count where chords[index] <= bound && withWords &>> UInt64(index) & 1 == 1 {
            if after.squaredChord > 0, children.farthest(index, from: centre) < after.squaredChord { continue }
            var isMixed = false
            if let window {
                if children.isOutside(window, index) { continue }
                isMixed = !children.isInside(window, index)
            }
            candidates.insert(Candidate(nearest: chords[index], node: candidate(children.node(index), isMixed, index)))
        }
    }

    private mutating func look(into leaf: Leaf, mixed: Int32?, _ chords: Column<Double>, _ work: inout VisitBudget) {
        work.read(leaves: 1)
        let before = hits.count
        if let words {
            work.searched(bytes: words.bytes(of: leaf.words))
            let (rows, count) = (words.rows(of: leaf), leaf.count)
            if rows == 0 { return }
            leaf.forEachRow(of: count, overlapping: window ?? .min ... .max) { row in
                if rows &>> UInt64(row) & 1 == 1 { measure(row, of: leaf, count) }
            }
        } else if let window, let mixed {
            // Computes chords only for the rows that overlap the window, because often these are few.
            let count = Int(mixed)
            leaf.forEachRow(of: count, overlapping: window) { row in measure(row, of: leaf, count) }
        } else {
            leaf.squaredChords(to: centre, into: chords)
            for row in 0..<leaf.count where chords[row] <= bound && chords[row] >= after.squaredChord {
                add(row, of: leaf, chords[row])
            }
        }
        keep(leaf, hits.count - before, &work)
    }

    @inline(__always)
    private mutating func measure(_ row: Int, of leaf: Leaf, _ count: Int) {
        let chord = leaf.vector(row, of: count).squaredChord(to: centre)
        if chord <= bound && chord >= after.squaredChord { add(row, of: leaf, chord) }
    }

    private mutating func add(_ row: Int, of leaf: Leaf, _ chord: Double) {
        let hit = PointIndex.Page.Hit(rank: chord, id: leaf.id(row), leaf: Int32(leaves.count), row: Int32(row))
        if hit.rank == bound, hit.id > lastID { return }
        if (hit.rank, hit.id) > after { hits.append(hit) }
    }

    /// Keeps a leaf with hits, and drops the hits that are surely behind the page.
    private mutating func keep(_ leaf: Leaf, _ found: Int, _ work: inout VisitBudget) {
        guard found > 0 else { return }
        work.took(points: found)
        leaves.append(leaf)
        guard hits.count >= selectAt else { return }
        hits.keepSmallest(enough)
        if let last = hits.max() { (bound, lastID) = (last.rank, last.id) }
        selectAt = enough + enough / 2
    }
}

internal import HeapModule

extension EventIndex.Snapshot {
    /// What ``EventsModule/nearest(_:)`` finds in the read model at the same position, in the same order.
    ///
    /// It looks outwards: whichever outer, inner or leaf is nearest is next, until none can hold anything that the answer lacks.
    public func nearest(_ search: NearbySearch) -> EventIndex.Page {
        var outwards = OutwardSearch(search)
        return withExtendedLifetime(self) { outwards.page(of: self) }
    }
}

extension EventIndex {
    /// The events of an answer, nearest first. It keeps their snapshot.
    public struct Page: Sendable {
        struct Hit: Sendable, Comparable {
            var squaredChord: Double
            var id: Int64
            var leaf: Int32
            var row: Int32
        }

        let snapshot: Snapshot
        let hits: [Hit]
        let leaves: [Leaf]
        /// Where to go on; nil at the end.
        public let next: NearbySearch.Cursor?

        public var count: Int { hits.count }
        public var isEmpty: Bool { hits.isEmpty }

        public subscript(index: Int) -> Entry {
            let hit = hits[index]
            return Entry(snapshot: snapshot, leaf: leaves[Int(hit.leaf)], row: Int(hit.row))
        }

        /// Of the JSON of all its events.
        public var jsonBytes: Int {
            withExtendedLifetime(snapshot) { hits.reduce(0) { $0 + leaves[Int($1.leaf)].json(Int($1.row)).count } }
        }

        /// Gives the bytes of each event's answer in turn, which are valid until the end of `body` only.
        public func forEachJSON(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
            try withExtendedLifetime(snapshot) {
                for hit in hits { try body(leaves[Int(hit.leaf)].json(Int(hit.row))) }
            }
        }
    }
}

/// One search under way.
private struct OutwardSearch {
    /// What may hold something of the answer, and the squared chord to where it begins.
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
    private let after: (squaredChord: Double, id: Int64)
    /// What is farther is not in the answer.
    private var bound: Double
    private var candidates = Heap<Candidate>(minimumCapacity: 64)
    private var hits: [EventIndex.Page.Hit] = []
    private var leaves: [Leaf] = []

    init(_ search: NearbySearch) {
        centre = UnitVector(search.centre)
        limit = search.limit
        after = search.lowest
        bound = Sphere.squaredChord(kilometres: search.radius)
        // As many as a map at hand shows, without growing towards it.
        hits.reserveCapacity(64)
        leaves.reserveCapacity(16)
    }

    mutating func page(of snapshot: EventIndex.Snapshot) -> EventIndex.Page {
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
        let cursor = hits.last.map { NearbySearch.Cursor(squaredChord: $0.squaredChord, id: EventID(rawValue: $0.id)) }
        return EventIndex.Page(snapshot: snapshot, hits: hits, leaves: leaves, next: isLast ? nil : cursor)
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
            let hit = EventIndex.Page.Hit(squaredChord: chords[row], id: leaf.id(row), leaf: number, row: Int32(row))
            if (hit.squaredChord, hit.id) > after { hits.append(hit) }
        }
        guard hits.count > before else { return }
        leaves.append(leaf)
        // One more than the limit, which tells whether there is another page. Twice as many are sorted out at a time, which
        // comes to a few comparisons each.
        let enough = limit + 1
        if hits.count >= 2 * enough {
            hits.keepSmallest(enough)
            bound = hits.reduce(0) { max($0, $1.squaredChord) }
        }
    }
}

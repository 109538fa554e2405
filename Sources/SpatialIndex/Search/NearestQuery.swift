/// A search for the points nearest to a centre, in the order of distance, then id.
public struct NearestQuery: Sendable, Hashable {
    public var centre: UnitVector
    /// The largest squared chord of a result: see ``UnitVector/squaredChord(angle:)``.
    public var squaredChord: Double
    /// Maximum number of results.
    public var limit: Int
    /// Results come after this place in the order.
    public var after: Cursor?

    public init(centre: UnitVector, squaredChord: Double = .infinity, limit: Int, after: Cursor? = nil) {
        self.centre = centre
        self.squaredChord = squaredChord
        self.limit = limit
        self.after = after
    }

    /// The place of a point in the order of one search. The point need not exist.
    public struct Cursor: Sendable, Hashable {
        public var squaredChord: Double
        public var id: Int64

        public init(squaredChord: Double, id: Int64) {
            self.squaredChord = squaredChord
            self.id = id
        }
    }
}

extension PointIndex {
    /// The points that a search finds, nearest first. The page keeps their snapshot.
    public struct Page: Sendable {
        struct Hit: Sendable, Comparable {
            var squaredChord: Double
            var id: Int64
            var leaf: Int32
            var row: Int32

            static func < (left: Self, right: Self) -> Bool {
                left.squaredChord == right.squaredChord ? left.id < right.id : left.squaredChord < right.squaredChord
            }
        }

        @usableFromInline let snapshot: Snapshot
        let hits: [Hit]
        let leaves: [Leaf]
        /// The cursor of the next page; nil if this page is the last one.
        public let next: NearestQuery.Cursor?

        /// Number of points.
        public var count: Int { hits.count }
        public var isEmpty: Bool { hits.isEmpty }

        public subscript(index: Int) -> Entry {
            let hit = hits[index]
            return Entry(snapshot: snapshot, leaf: leaves[Int(hit.leaf)], row: Int(hit.row))
        }

        /// Bytes of all payloads of the page.
        public var payloadBytes: Int {
            withExtendedLifetime(snapshot) { hits.reduce(0) { $0 + leaves[Int($1.leaf)].payload(Int($1.row)).count } }
        }

        /// Calls a closure with each payload in order. The bytes are valid until the closure returns.
        /// - Throws: the error of the closure
        public func forEachPayload(_ body: (UnsafeRawBufferPointer) throws -> Void) rethrows {
            try withExtendedLifetime(snapshot) {
                for hit in hits { try body(leaves[Int(hit.leaf)].payload(Int(hit.row))) }
            }
        }
    }
}

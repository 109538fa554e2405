extension PointIndex {
    /// The points that a search finds, in its order. The page keeps their snapshot.
    public struct Page: Sendable {
        struct Hit: Sendable, Comparable {
            /// The first key of the order: the squared chord, or for a search without distances the id.
            var rank: Double
            var id: Int64
            var leaf: Int32
            var row: Int32

            static func < (left: Self, right: Self) -> Bool {
                left.rank == right.rank ? left.id < right.id : left.rank < right.rank
            }
        }

        let snapshot: Snapshot
        let hits: [Hit]
        let leaves: [Leaf]
        /// Whether the search finds no points behind this page.
        public let isLast: Bool

        /// - Parameter hits: all hits, or at least one more than the limit of those that come first; in any order
        init(snapshot: Snapshot, hits: consuming [Hit], leaves: [Leaf], limit: Int) {
            hits.sortByRank()
            isLast = hits.count <= limit
            if !isLast { hits.removeLast(hits.count - limit) }
            self.snapshot = snapshot
            self.hits = hits
            self.leaves = leaves
        }

        /// The cursor of the next page of a search for the nearest points; nil if this page is the last one.
        public var next: NearestQuery.Cursor? {
            isLast ? nil : hits.last.map { NearestQuery.Cursor(squaredChord: $0.rank, id: $0.id) }
        }

        /// The cursor of the next page of a search in the order of ids; nil if this page is the last one.
        public var nextID: Int64? { isLast ? nil : hits.last?.id }

        /// Number of points.
        public var count: Int { hits.count }

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
        public func forEachPayload(_ body: (RawSpan) throws -> Void) rethrows {
            try withExtendedLifetime(snapshot) {
                for hit in hits { try leaves[Int(hit.leaf)].payload(Int(hit.row)).withSpan(body) }
            }
        }
    }
}

extension PointIndex {
    /// The points at one position. A snapshot never changes.
    public final class Snapshot: Sendable {
        /// The position of the last batch in the snapshot; -1 if the index is empty and no batch was applied.
        public let position: Int64
        /// The caller's mark of the last batch.
        public let mark: UInt32?
        /// Number of points.
        public let count: Int
        let blockBytes: Int
        let root: Children<OuterNode>
        let cells: IDTable
        /// The blocks that the next snapshot no longer has.
        let reclamation: DeferredReclamation

        init(
            position: Int64, mark: UInt32?, count: Int, blockBytes: Int, root: Children<OuterNode>, cells: IDTable,
            _ backlog: DeferredReclamation.Backlog
        ) {
            self.position = position
            self.mark = mark
            self.count = count
            self.blockBytes = blockBytes
            self.root = root
            self.cells = cells
            reclamation = DeferredReclamation(backlog)
        }

        /// The snapshot of an empty index.
        convenience init(_ backlog: DeferredReclamation.Backlog) {
            var blocks = RetiredBlocks()
            let root = Children<OuterNode>(EmptyCollection(), &blocks)
            self.init(
                position: -1, mark: nil, count: 0, blockBytes: blocks.bytes, root: root, cells: IDTable(), backlog)
        }

        /// Bytes of memory that the points take, with payloads and all nodes.
        public var bytes: Int { blockBytes + cells.bytes }

        /// The point with an id.
        public func entry(_ id: Int64) -> Entry? {
            withExtendedLifetime(self) {
                cells[id].flatMap { find(id, in: $0) }.map { Entry(snapshot: self, leaf: $0.leaf, row: $0.row) }
            }
        }

        /// The next points after an id, in the order of the ids.
        /// - Parameters:
        ///   - after: nil begins with the first point
        ///   - limit: the largest number of points
        public func entries(after id: Int64?, limit: Int) -> [Entry] {
            withExtendedLifetime(self) {
                var entries: [Entry] = []
                _ = cells.forEach(after: id) { id, cell in
                    if let (leaf, row) = find(id, in: cell) { entries.append(Entry(snapshot: self, leaf: leaf, row: row)) }
                    return entries.count < limit
                }
                return entries
            }
        }

        func find(_ id: Int64, in cell: OctreeCell) -> (leaf: Leaf, row: Int)? {
            guard root.count > 0 else { return nil }
            let key = LeafKey(cell: cell, id: id)
            let outer = root.node(root.index(for: key))
            let inner = outer.node(outer.index(for: key))
            let leaf = inner.node(inner.index(for: key))
            return leaf.row(of: id).map { (leaf, $0) }
        }
    }

    /// A point in a snapshot. The entry keeps the snapshot.
    public struct Entry: Sendable {
        let snapshot: Snapshot
        let leaf: Leaf
        let row: Int

        public var id: Int64 { withExtendedLifetime(snapshot) { leaf.id(row) } }
        public var tag: Int64 { withExtendedLifetime(snapshot) { leaf.tag(row) } }
        public var note: UInt64 { withExtendedLifetime(snapshot) { leaf.note(row) } }
        public var location: Location { withExtendedLifetime(snapshot) { leaf.location(row) } }
        public var version: Int32 { withExtendedLifetime(snapshot) { leaf.version(row) } }

        /// A copy of the payload.
        public var payload: [UInt8] { withExtendedLifetime(snapshot) { Array(copying: leaf.payload(row)) } }

        /// A copy of the words.
        public var words: [UInt8] { withExtendedLifetime(snapshot) { Array(copying: leaf.texts[row]) } }

        /// Calls a closure with the bytes of the payload, which are valid until the closure returns.
        /// - Throws: the error of the closure
        public func withPayload<Value>(_ body: (RawSpan) throws -> Value) rethrows -> Value {
            try withExtendedLifetime(snapshot) { try leaf.payload(row).withSpan(body) }
        }
    }
}

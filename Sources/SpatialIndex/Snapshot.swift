public import Users

extension EventIndex {
    /// All events at one position of the log.
    public final class Snapshot: Sendable {
        /// Up to and with which the log is in it; -1 where nothing is.
        public let position: Int64
        /// How many events there are.
        public let count: Int
        let blockBytes: Int
        let root: Children<OuterNode>
        let cells: IDTable
        /// What the next snapshot has no more.
        let retired = Retired()

        init(position: Int64, count: Int, blockBytes: Int, root: Children<OuterNode>, cells: IDTable) {
            self.position = position
            self.count = count
            self.blockBytes = blockBytes
            self.root = root
            self.cells = cells
        }

        /// Of nothing.
        convenience init() {
            var retiredBlocks = RetiredBlocks()
            let root = Children<OuterNode>(EmptyCollection(), &retiredBlocks)
            self.init(position: -1, count: 0, blockBytes: retiredBlocks.bytes, root: root, cells: IDTable())
        }

        /// What is held in memory, the JSON of the events with all that finds it.
        public var bytes: Int { blockBytes + cells.bytes }

        /// nil where there is none of that id.
        public func event(_ id: EventID) -> Entry? {
            withExtendedLifetime(self) {
                cells[id.rawValue].flatMap { find(id.rawValue, in: $0) }.map { Entry(snapshot: self, leaf: $0.leaf, row: $0.row) }
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

    /// An event as a snapshot holds it, which it keeps.
    public struct Entry: Sendable {
        let snapshot: Snapshot
        let leaf: Leaf
        let row: Int

        public var id: EventID { withExtendedLifetime(snapshot) { EventID(rawValue: leaf.id(row)) } }
        public var owner: UserID { withExtendedLifetime(snapshot) { leaf.owner(row) } }
        public var version: Int32 { withExtendedLifetime(snapshot) { leaf.version(row) } }

        /// Gives the bytes of the event's answer, which are valid until the end of `body` only.
        public func withJSON<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
            try withExtendedLifetime(snapshot) { try body(leaf.json(row)) }
        }
    }
}

public import Users

extension EventMemory {
    /// All events at one position of the log.
    public final class Snapshot: Sendable {
        /// Up to and with which the log is in it; -1 where nothing is.
        public let position: Int64
        let branches: [Branch]
        /// Of the branches, beside each other.
        let boxes: Boxes
        let lows: [LeafKey]
        let cells: CellsByID

        static let empty = Snapshot(position: -1, branches: [], cells: CellsByID())

        init(position: Int64, branches: [Branch], cells: CellsByID) {
            self.position = position
            self.branches = branches
            boxes = Boxes(branches.map(\.box))
            lows = branches.map(\.low)
            self.cells = cells
        }

        /// How many events there are.
        public var count: Int { branches.reduce(0) { $0 + $1.count } }

        /// What is held in memory, the JSON of the events with all that finds it.
        public var bytes: Int {
            branches.reduce(cells.bytes) { $0 + $1.bytes + Branch.bytesPerChild }
        }

        /// nil where there is none of that id.
        public func event(_ id: EventID) -> Entry? { cells[id.rawValue].flatMap { entry(id.rawValue, in: $0) } }

        func entry(_ id: Int64, in cell: OctreeCell) -> Entry? {
            guard !branches.isEmpty else { return nil }
            let key = LeafKey(cell: cell, id: id)
            let leaf = branches[lows.index(for: key)].leaf(for: key)
            return leaf.row(of: id).map { Entry(leaf: leaf, row: $0) }
        }
    }

    /// An event as a snapshot holds it.
    public struct Entry: Sendable {
        let leaf: Leaf
        let row: Int

        public var id: EventID { EventID(rawValue: leaf.id(row)) }
        public var owner: UserID { leaf.owner(row) }
        public var version: Int32 { leaf.version(row) }

        /// Gives the bytes of the event's answer, which are valid until the end of `body` only.
        public func withJSON<Value>(_ body: (UnsafeRawBufferPointer) throws -> Value) rethrows -> Value {
            try withExtendedLifetime(leaf) { try body(leaf.json(row)) }
        }
    }
}

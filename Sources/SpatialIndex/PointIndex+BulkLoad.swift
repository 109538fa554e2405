public import Users

extension EventIndex {
    /// All events of the read model at a position, each once, in any order: for a node that starts.
    ///
    /// They are put apart by region as they come in, so that one region after another can become leaves and be freed, and what is
    /// sorted and copied then is near at hand.
    public struct BulkLoad: Sendable {
        /// By the first bits of the cell: some 400 km wide.
        private var regions = Array(repeating: Batch(), count: 1 << Int(bitsOfRegion))
        private(set) var cells: [IDTable.Change] = []

        public init() {}

        public var count: Int { cells.count }

        public mutating func put(
            _ id: EventID, owner: UserID, version: Int32, coordinates: Coordinates, json: some Sequence<UInt8>
        ) {
            put(id, owner: owner, version: version, vector: UnitVector(coordinates), json: json)
        }

        private mutating func put(
            _ id: EventID, owner: UserID, version: Int32, vector: UnitVector, json: some Sequence<UInt8>
        ) {
            let cell = OctreeCell(vector)
            cells.append((id.rawValue, cell))
            regions[cell.leading(bits: Self.bitsOfRegion)].put(id, owner: owner, version: version, vector: vector, json: json)
        }

        /// Puts all that a batch puts.
        mutating func put(_ batch: Batch) {
            batch.json.withUnsafeBytes { json in
                for change in batch.changes {
                    guard let event = change.event else { continue }
                    put(
                        EventID(rawValue: change.id), owner: event.owner, version: event.version, vector: event.vector,
                        json: UnsafeRawBufferPointer(rebasing: json[event.json]))
                }
            }
        }

        mutating func takeRegions(_ body: (Batch) -> Void) {
            for region in regions.indices where !regions[region].isEmpty {
                var batch = Batch()
                swap(&batch, &regions[region])
                body(batch)
            }
        }

        /// Three a size of cells.
        private static let bitsOfRegion: UInt64 = 15
    }

    /// Holds the events of the filling from now on, and no others; the filling is empty then.
    ///
    /// Left out, as a batch is, where the index stands at a later position.
    public func fill(from bulkLoad: inout BulkLoad, position: Int64) {
        replace { position < $0.position ? nil : $0.next(&bulkLoad, position: position) }
        bulkLoad = BulkLoad()
    }
}

extension PointIndex {
    /// All points of an index, each once, in any order. Loading them this way is faster than a batch.
    ///
    /// The bulk load sorts points into regions as they come. ``PointIndex/fill(from:position:)`` then makes the leaves of one
    /// region after another, and frees each region. So sorting and copying stay within the processor's cache.
    public struct BulkLoad: PointCollector, Sendable {
        /// The number of leading bits of a cell that choose the region: three bits for each level, some 400 km on the Earth.
        private static let regionBits: UInt64 = 15

        private var regions = Array(repeating: Batch(), count: 1 << Int(regionBits))
        private(set) var cells: [IDTable.Change] = []

        public init() {}

        /// Number of points.
        public var count: Int { cells.count }

        public mutating func put(
            _ id: Int64, tag: Int64, version: Int32, at location: Location, bytes: UnsafeRawBufferPointer
        ) {
            let cell = OctreeCell(location.vector)
            cells.append((id, cell))
            regions[cell.leading(bits: Self.regionBits)].put(id, tag: tag, version: version, at: location, bytes: bytes)
        }

        /// Adds every point that a batch adds. Removals have no effect.
        public mutating func put(_ batch: Batch) {
            batch.payloads.withUnsafeBytes { payloads in
                for change in batch.changes {
                    guard let row = change.row else { continue }
                    put(
                        change.id, tag: row.tag, version: row.version, at: row.location,
                        bytes: UnsafeRawBufferPointer(rebasing: payloads[row.payload]))
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
    }
}

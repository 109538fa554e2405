extension PointIndex {
    /// All points of an index, each once, in any order. Loading them this way is faster than a batch.
    ///
    /// The bulk load sorts points into regions as they come. ``PointIndex/fill(from:position:mark:)`` then makes the leaves of one
    /// region after another on each core, and frees each region. So sorting and copying stay within the processor's cache.
    public struct BulkLoad: Sendable {
        /// The number of leading bits of a cell that choose the region: three bits for each level, some 400 km on the Earth.
        private static let regionBits: UInt64 = 15

        private var regions = Array(repeating: Batch(), count: 1 << Int(regionBits))
        private(set) var cells: [IDTable.Change] = []

        public init() {}

        /// Number of points.
        public var count: Int { cells.count }

        /// Adds every point that a batch adds. Removals have no effect.
        public mutating func put(_ batch: Batch) {
            let texts = batch.texts.span
            for change in batch.changes {
                guard let row = change.row else { continue }
                let cell = OctreeCell(row.location.vector)
                cells.append((change.id, cell))
                regions[cell.leading(bits: Self.regionBits)].put(
                    change.id, tag: row.tag, note: row.note, version: row.version, at: row.location,
                    bytes: texts.extracting(row.payload), words: texts.extracting(row.words))
            }
        }

        /// Takes the points of all regions.
        mutating func takeRegions() -> [Batch] { exchange(&regions, with: []) }

        /// Ranges of regions with nearly equal numbers of points.
        /// - Parameter number: at most one range more is returned
        func ranges(_ number: Int) -> [Range<Int>] {
            let share = max(1, count / number)
            var ranges: [Range<Int>] = []
            var (start, points) = (0, 0)
            for region in regions.indices {
                points += regions[region].count
                guard points >= share else { continue }
                ranges.append(start..<region + 1)
                (start, points) = (region + 1, 0)
            }
            return ranges + [start..<regions.count]
        }
    }
}

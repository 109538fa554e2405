internal import Dispatch
internal import Synchronization

extension PointIndex.Snapshot {
    /// Number of parts into which the cores divide a bulk load: many more than cores, so that all cores end at about the same time.
    private static let bulkLoadParts = 64

    /// The leaves of some regions, and their blocks.
    ///
    /// `@unchecked`: one thread makes the leaves before any other thread sees them.
    private struct Part: @unchecked Sendable {
        var leaves: [Child<Leaf>] = []
        var blocks = RetiredBlocks()

        mutating func add(_ region: PointIndex.Batch) {
            region.texts.withColumn { texts in
                let rows = region.changes.compactMap { change in change.row.map { Leaf.Row(change.id, $0, texts: texts) } }
                for leaf in Child.leaves(of: rows, &blocks) { leaves.append(leaf, &blocks) }
            }
        }
    }

    /// Makes the next snapshot from a bulk load only, on all cores. The writer calls this once.
    func next(_ bulkLoad: inout PointIndex.BulkLoad, position: Int64, mark: UInt32?) -> PointIndex.Snapshot {
        let (changes, ranges) = (bulkLoad.cells, bulkLoad.ranges(Self.bulkLoadParts))
        let regions = Mutex(bulkLoad.takeRegions())
        let table = Mutex((cells: IDTable(), blocks: RetiredBlocks()))
        let parts = Mutex(Array(repeating: Part(), count: ranges.count))
        DispatchQueue.concurrentPerform(iterations: ranges.count + 1) { number in
            // The table of ids comes first, because it takes longer than a part.
            guard number > 0 else {
                return table.withLock { $0.cells.apply(changes.sorted { $0.id < $1.id }[...], &$0.blocks) }
            }
            var part = Part()
            for region in ranges[number - 1] {
                // Freed before the next region, so that the leaves use its memory.
                let points = regions.withLock { exchange(&$0[region], with: PointIndex.Batch()) }
                if points.count > 0 { part.add(points) }
            }
            parts.withLock { $0[number - 1] = part }
        }
        var blocks = RetiredBlocks()
        retireAll(&blocks)
        var leaves: [Child<Leaf>] = []
        for part in parts.withLock({ $0 }) {
            blocks.append(part.blocks)
            for leaf in part.leaves { leaves.append(leaf, &blocks) }
        }
        let (cells, tableBlocks) = table.withLock { $0 }
        blocks.append(tableBlocks)
        let root = Children<OuterNode>(of: leaves, &blocks)
        let next = PointIndex.Snapshot(
            position: position, mark: mark, count: changes.count, blockBytes: blockBytes + blocks.bytes, root: root, cells: cells,
            reclamation.backlog)
        reclamation.close(blocks, next: next.reclamation)
        return next
    }

    /// Marks this snapshot as the last one: its blocks are freed with it.
    func close() {
        var blocks = RetiredBlocks()
        retireAll(&blocks)
        reclamation.close(blocks, next: nil)
    }

    private func retireAll(_ blocks: inout RetiredBlocks) {
        cells.retire(&blocks)
        for outer in root.nodes {
            for inner in outer.nodes {
                for leaf in inner.nodes { blocks.replace(leaf.block, leaf.bytes) }
                blocks.replace(inner.block, inner.bytes)
            }
            blocks.replace(outer.block, outer.bytes)
        }
        blocks.replace(root.block, root.bytes)
    }
}

extension Leaf.Row {
    init(_ id: Int64, _ row: PointIndex.Batch.Row, texts: Column<UInt8>) {
        self.init(
            id: id, tag: row.tag, note: row.note, version: row.version, location: row.location, payload: texts[row.payload],
            words: texts[row.words])
    }
}

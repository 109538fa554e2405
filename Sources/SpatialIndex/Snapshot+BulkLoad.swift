extension PointIndex.Snapshot {
    /// Makes the next snapshot from a bulk load only. The writer calls this once.
    func next(_ bulkLoad: inout PointIndex.BulkLoad, position: Int64) -> PointIndex.Snapshot {
        var blocks = RetiredBlocks()
        retireAll(&blocks)
        var cells = IDTable()
        cells.apply(bulkLoad.cells.sorted { $0.id < $1.id }[...], &blocks)
        var leaves: [Child<Leaf>] = []
        bulkLoad.takeRegions { region in
            region.payloads.withUnsafeBytes { payloads in
                let rows = region.changes.compactMap { change in change.row.map { Leaf.Row(change.id, $0, payloads: payloads) } }
                for leaf in Child.leaves(of: rows, &blocks) { leaves.append(leaf, &blocks) }
            }
        }
        let root = Children<OuterNode>(of: leaves, &blocks)
        let next = PointIndex.Snapshot(
            position: position, count: bulkLoad.count, blockBytes: blockBytes + blocks.bytes, root: root, cells: cells)
        reclamation.close(blocks.replaced, next: next.reclamation)
        return next
    }

    /// Marks this snapshot as the last one: its blocks are freed with it.
    func close() {
        var blocks = RetiredBlocks()
        retireAll(&blocks)
        reclamation.close(blocks.replaced, next: nil)
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
    init(_ id: Int64, _ row: PointIndex.Batch.Row, payloads: UnsafeRawBufferPointer) {
        self.init(
            id: id, tag: row.tag, version: row.version, location: row.location,
            payload: UnsafeRawBufferPointer(rebasing: payloads[row.payload])
        )
    }
}

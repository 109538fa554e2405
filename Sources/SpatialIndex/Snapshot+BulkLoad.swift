extension EventIndex.Snapshot {
    /// The next snapshot, of the filling alone. Only the writer calls it, once.
    func next(_ bulkLoad: inout EventIndex.BulkLoad, position: Int64) -> EventIndex.Snapshot {
        var retiredBlocks = RetiredBlocks()
        retireAll(&retiredBlocks)
        var cells = IDTable()
        cells.apply(bulkLoad.cells.sorted { $0.id < $1.id }[...], &retiredBlocks)
        var leaves: [Child<Leaf>] = []
        bulkLoad.takeRegions { region in
            region.json.withUnsafeBytes { json in
                let rows = region.changes.compactMap { change in change.event.map { Leaf.Row(change.id, $0, json: json) } }
                for leaf in Child.leaves(of: rows, &retiredBlocks) { leaves.append(leaf, &retiredBlocks) }
            }
        }
        let root = Children<OuterNode>(of: leaves, &retiredBlocks)
        let next = EventIndex.Snapshot(
            position: position, count: bulkLoad.count, blockBytes: blockBytes + retiredBlocks.bytes, root: root, cells: cells)
        retired.close(retiredBlocks.replaced, next: next.retired)
        return next
    }

    /// There will be no next one: what is in this one goes with it.
    func close() {
        var retiredBlocks = RetiredBlocks()
        retireAll(&retiredBlocks)
        retired.close(retiredBlocks.replaced, next: nil)
    }

    private func retireAll(_ retiredBlocks: inout RetiredBlocks) {
        cells.retire(&retiredBlocks)
        for outer in root.nodes {
            for inner in outer.nodes {
                for leaf in inner.nodes { retiredBlocks.replace(leaf.block, leaf.bytes) }
                retiredBlocks.replace(inner.block, inner.bytes)
            }
            retiredBlocks.replace(outer.block, outer.bytes)
        }
        retiredBlocks.replace(root.block, root.bytes)
    }
}

extension Leaf.Row {
    init(_ id: Int64, _ event: EventIndex.Batch.IndexedRow, json: UnsafeRawBufferPointer) {
        self.init(
            id: id, owner: event.owner, version: event.version, vector: event.vector,
            json: UnsafeRawBufferPointer(rebasing: json[event.json])
        )
    }
}

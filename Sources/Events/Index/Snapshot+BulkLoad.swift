extension EventIndex.Snapshot {
    /// The next snapshot, of the filling alone. Only the writer calls it, once.
    func next(_ bulkLoad: inout EventIndex.BulkLoad, position: Int64) -> EventIndex.Snapshot {
        var turnover = Turnover()
        retireAll(&turnover)
        var cells = CellsByID()
        cells.apply(bulkLoad.cells.sorted { $0.id < $1.id }[...], &turnover)
        var leaves: [Child<Leaf>] = []
        bulkLoad.takeRegions { region in
            region.json.withUnsafeBytes { json in
                let rows = region.changes.compactMap { change in change.event.map { Leaf.Row(change.id, $0, json: json) } }
                for leaf in Child.leaves(of: rows, &turnover) { leaves.append(leaf, &turnover) }
            }
        }
        let root = Children<OuterNode>(of: leaves, &turnover)
        let next = EventIndex.Snapshot(
            position: position, count: bulkLoad.count, blockBytes: blockBytes + turnover.bytes, root: root, cells: cells)
        retired.close(turnover.replaced, next: next.retired)
        return next
    }

    /// There will be no next one: what is in this one goes with it.
    func close() {
        var turnover = Turnover()
        retireAll(&turnover)
        retired.close(turnover.replaced, next: nil)
    }

    private func retireAll(_ turnover: inout Turnover) {
        cells.retire(&turnover)
        for outer in root.nodes {
            for inner in outer.nodes {
                for leaf in inner.nodes { turnover.replace(leaf.block, leaf.bytes) }
                turnover.replace(inner.block, inner.bytes)
            }
            turnover.replace(outer.block, outer.bytes)
        }
        turnover.replace(root.block, root.bytes)
    }
}

extension Leaf.Row {
    init(_ id: Int64, _ event: EventIndex.Batch.Placed, json: UnsafeRawBufferPointer) {
        self.init(
            id: id, owner: event.owner, version: event.version, vector: event.vector,
            json: UnsafeRawBufferPointer(rebasing: json[event.json])
        )
    }
}

extension PointIndex.Snapshot {
    /// Makes the next snapshot, which shares all unchanged blocks with this one. The writer calls this once.
    func next(_ batch: PointIndex.Batch, position: Int64, mark: UInt32?) -> PointIndex.Snapshot {
        batch.texts.withColumn { texts in
            var blocks = RetiredBlocks()
            let (edits, changes) = edits(of: batch, texts: texts)
            var cells = cells
            cells.apply(changes[...], &blocks)
            let root = edits.isEmpty ? root : edited(by: edits, &blocks)
            let arrived = changes.reduce(0) { count, change in
                count + (change.cell == .none ? 0 : 1) - (self.cells[change.id] == nil ? 0 : 1)
            }
            let next = PointIndex.Snapshot(
                position: position, mark: mark, count: count + arrived, blockBytes: blockBytes + blocks.bytes, root: root,
                cells: cells, reclamation.backlog)
            reclamation.close(blocks, next: next.reclamation)
            return next
        }
    }

    /// Turns a batch into edits of leaves, ordered by key, and changes of the id table, ordered by id. A point that moves gives two
    /// edits: one removes it at the old key, and one adds it at the new key.
    private func edits(
        of batch: PointIndex.Batch, texts: Column<UInt8>
    ) -> (edits: [LeafEdit], changes: [IDTable.Change]) {
        // The sort is stable: changes of one id keep their order.
        let sorted = batch.changes.sorted { $0.id < $1.id }
        var edits: [LeafEdit] = []
        edits.reserveCapacity(2 * sorted.count)
        var changes: [IDTable.Change] = []
        changes.reserveCapacity(sorted.count)
        var rest = sorted[...]
        while let id = rest.first?.id {
            let own = rest.prefix { $0.id == id }
            rest = rest[own.endIndex...]
            let held = cells[id]
            guard let change = own.last?.row else {
                if let held {
                    edits.append(LeafEdit(key: LeafKey(cell: held, id: id), row: nil))
                    changes.append((id, .none))
                }
                continue
            }
            // A point that was removed may begin again with any version.
            let isRemovedBefore = own.contains { $0.row == nil }
            if let held, !isRemovedBefore, let (leaf, row) = find(id, in: held), leaf.version(row) > change.version { continue }
            let row = Leaf.Row(id, change, texts: texts)
            let key = row.key
            if let held, held != key.cell { edits.append(LeafEdit(key: LeafKey(cell: held, id: id), row: nil)) }
            edits.append(LeafEdit(key: key, row: row))
            changes.append((id, key.cell))
        }
        return (edits.sorted { $0.key < $1.key }, changes)
    }

    private func edited(by edits: [LeafEdit], _ blocks: inout RetiredBlocks) -> Children<OuterNode> {
        if root.count > 0 {
            return root.edited(by: edits[...], inPartsOf: .max, &blocks).first ?? Children([], &blocks)
        }
        blocks.replace(root.block, root.bytes)
        return Children(of: Child.leaves(of: edits.compactMap(\.row), &blocks), &blocks)
    }
}

extension EventIndex.Snapshot {
    /// The next snapshot, which shares with this one all that the batch does not touch. Only the writer calls it, once.
    func next(_ batch: EventIndex.Batch, position: Int64) -> EventIndex.Snapshot {
        batch.json.withUnsafeBytes { json in
            var retiredBlocks = RetiredBlocks()
            let (edits, changes) = edits(of: batch, json: json)
            var cells = cells
            cells.apply(changes[...], &retiredBlocks)
            let root = edits.isEmpty ? root : edited(by: edits, &retiredBlocks)
            let arrived = changes.reduce(0) { count, change in
                count + (change.cell == .none ? 0 : 1) - (self.cells[change.id] == nil ? 0 : 1)
            }
            let next = EventIndex.Snapshot(
                position: position, count: count + arrived, blockBytes: blockBytes + retiredBlocks.bytes, root: root, cells: cells
            )
            retired.close(retiredBlocks.replaced, next: next.retired)
            return next
        }
    }

    /// By key: what leaves the leaf there, and what comes in. An event that moves does both, in two places. And by id, in which cell
    /// it is then.
    private func edits(
        of batch: EventIndex.Batch, json: UnsafeRawBufferPointer
    ) -> (edits: [LeafEdit], changes: [IDTable.Change]) {
        // Sorting keeps the order of those of one id.
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
            guard let event = own.last?.event else {
                if let held {
                    edits.append(LeafEdit(key: LeafKey(cell: held, id: id), row: nil))
                    changes.append((id, .none))
                }
                continue
            }
            // What was removed may begin anew.
            let isRemovedBefore = own.contains { $0.event == nil }
            if let held, !isRemovedBefore, let (leaf, row) = find(id, in: held), leaf.version(row) > event.version { continue }
            let row = Leaf.Row(id, event, json: json)
            let key = row.key
            if let held, held != key.cell { edits.append(LeafEdit(key: LeafKey(cell: held, id: id), row: nil)) }
            edits.append(LeafEdit(key: key, row: row))
            changes.append((id, key.cell))
        }
        return (edits.sorted { $0.key < $1.key }, changes)
    }

    private func edited(by edits: [LeafEdit], _ retiredBlocks: inout RetiredBlocks) -> Children<OuterNode> {
        if root.count > 0 {
            return root.edited(by: edits[...], inPartsOf: .max, &retiredBlocks).first ?? Children([], &retiredBlocks)
        }
        retiredBlocks.replace(root.block, root.bytes)
        return Children(of: Child.leaves(of: edits.compactMap(\.row), &retiredBlocks), &retiredBlocks)
    }
}

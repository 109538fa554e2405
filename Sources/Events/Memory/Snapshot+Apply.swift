extension EventMemory.Snapshot {
    /// The next snapshot, which shares with this one all that the batch does not touch.
    func applying(_ batch: EventMemory.Batch, position: Int64) -> EventMemory.Snapshot {
        batch.json.withUnsafeBytes { json in
            var cells = cells
            let edits = edits(of: batch, json: json, cells: &cells)
            // The rows of the new leaves look at the JSON in the old ones.
            let branches = withExtendedLifetime(self) { edited(by: edits) }
            return EventMemory.Snapshot(position: position, branches: branches, cells: cells)
        }
    }

    /// By key: what leaves the leaf there, and what comes in. An event that moves does both, in two places.
    private func edits(of batch: EventMemory.Batch, json: UnsafeRawBufferPointer, cells: inout CellsByID) -> [LeafEdit] {
        // Sorting keeps the order of those of one id.
        var changes = batch.changes.sorted { $0.id < $1.id }[...]
        var edits: [LeafEdit] = []
        edits.reserveCapacity(changes.count)
        while let id = changes.first?.id {
            let own = changes.prefix { $0.id == id }
            changes = changes[own.endIndex...]
            let held = cells[id]
            guard let event = own.last?.event else {
                if let held { edits.append(LeafEdit(key: LeafKey(cell: held, id: id), row: nil)) }
                cells[id] = nil
                continue
            }
            // What was removed may begin anew.
            let isRemovedBefore = own.contains { $0.event == nil }
            if let held, !isRemovedBefore, let entry = entry(id, in: held), entry.version > event.version { continue }
            let row = Leaf.Row(
                id: id, owner: event.owner, version: event.version, vector: event.vector,
                json: UnsafeRawBufferPointer(rebasing: json[event.json])
            )
            let key = row.key
            if let held, held != key.cell { edits.append(LeafEdit(key: LeafKey(cell: held, id: id), row: nil)) }
            edits.append(LeafEdit(key: key, row: row))
            cells[id] = key.cell
        }
        return edits.sorted { $0.key < $1.key }
    }

    private func edited(by edits: [LeafEdit]) -> [Branch] {
        let branches = branches.isEmpty ? [Branch([Leaf([], low: .lowest)])] : branches
        var edited: [Branch] = []
        edited.reserveCapacity(branches.count)
        var rest = edits[...]
        for (index, branch) in branches.enumerated() {
            let own = rest.removePrefix(before: index + 1 < branches.count ? branches[index + 1].low : nil)
            guard !own.isEmpty else {
                edited.append(branch)
                continue
            }
            var leaves = branch.edited(by: own)
            if let last = edited.last, last.leaves.count + leaves.count <= Branch.capacity / 2 {
                leaves = last.leaves + leaves
                edited.removeLast()
            }
            let parts = (leaves.count + Branch.capacity - 1) / Branch.capacity
            for part in 0..<parts {
                edited.append(Branch(Array(leaves[leaves.count * part / parts..<leaves.count * (part + 1) / parts])))
            }
        }
        return edited
    }
}

/// One row of a leaf that is made anew.
struct LeafEdit {
    var key: LeafKey
    /// nil where the event leaves.
    var row: Leaf.Row?
}

extension ArraySlice<LeafEdit> {
    /// Takes those off that stand before the key; all for nil.
    fileprivate mutating func removePrefix(before key: LeafKey?) -> Self {
        let end = key.map { key in partitioningIndex { key <= $0.key } } ?? endIndex
        defer { self = self[end...] }
        return self[..<end]
    }
}

extension Branch {
    /// Its leaves after the edits, which are by key.
    fileprivate func edited(by edits: ArraySlice<LeafEdit>) -> [Leaf] {
        var edited: [Leaf] = []
        edited.reserveCapacity(leaves.count)
        var rest = edits
        for (index, leaf) in leaves.enumerated() {
            let own = rest.removePrefix(before: index + 1 < leaves.count ? lows[index + 1] : nil)
            guard !own.isEmpty else {
                edited.append(leaf)
                continue
            }
            for new in leaf.edited(by: own) {
                if let last = edited.last, last.count + new.count <= Leaf.capacity / 2 {
                    edited[edited.count - 1] = last.joined(with: new)
                } else {
                    edited.append(new)
                }
            }
        }
        return edited
    }
}

/// Up to ``capacity`` leaves that follow one another in the order of their keys.
final class Branch: Sendable {
    static let capacity = 64

    let leaves: [Leaf]
    /// Of the leaves, beside each other so that a search touches no leaf in vain.
    let boxes: Boxes
    let lows: [LeafKey]
    let box: Box
    let count: Int
    /// All that is held for it and its leaves.
    let bytes: Int

    init(_ leaves: [Leaf]) {
        self.leaves = leaves
        boxes = Boxes(leaves.map(\.box))
        lows = leaves.map(\.low)
        box = boxes.box
        count = leaves.reduce(0) { $0 + $1.count }
        bytes = leaves.reduce(Self.objectBytes) { $0 + $1.bytes + Self.bytesPerChild }
    }

    var low: LeafKey { lows.first ?? .lowest }

    /// The leaf in which an event of that key is, if it is anywhere.
    func leaf(for key: LeafKey) -> Leaf { leaves[lows.index(for: key)] }

    /// What whoever holds leaves or branches keeps of each.
    static let bytesPerChild = MemoryLayout<Leaf>.size + MemoryLayout<Box>.size + MemoryLayout<LeafKey>.size
    /// The branch itself and the heads of three arrays, with the allocator's shares.
    private static let objectBytes = 144 + 3 * 48
}

extension [LeafKey] {
    /// Of the last that is not behind the key, or of the first.
    func index(for key: LeafKey) -> Int { Swift.max(0, partitioningIndex { key < $0 } - 1) }
}

/// The signature of the words of leaves, in the block of their parent: 2,048 slices of 64 bits. The bit of a child is set in a slice if
/// the beginning of a word of the child has the slice's number as its hash. So one load tells which of 64 leaves may have a beginning.
/// Source: Roberts, *Partial-match retrieval via the method of superimposed codes*, Proceedings of the IEEE 67 (1979).
extension Children {
    /// 6 to 10 bytes a point.
    static var signatureBytes: Int { WordHashes.count * MemoryLayout<UInt64>.stride }

    /// The slices are empty if no child has words, and in a node whose children are no leaves.
    var slices: Column<UInt64> {
        block.column(after: Self.bytes(count: count), count: block.wordBytes / MemoryLayout<UInt64>.stride)
    }

    /// The children that may have points with all words of a query, one bit each. A shift by an index counts modulo 64, for the root,
    /// which may have more children.
    func candidates(for query: PointIndex.WordQuery) -> UInt64 {
        guard Node.self == Leaf.self else { return .max }
        guard block.wordBytes > 0 else { return 0 }
        let slices = slices
        return query.hashes.reduce(.max) { $0 & slices[$1] }
    }

    /// Writes the bits of a child that takes another child's place.
    func sign(_ node: Node, at index: Int) {
        let (slices, bit) = (slices, UInt64(1) &<< UInt64(index))
        for slice in 0..<slices.count { slices[slice] &= ~bit }
        add(node, at: index)
    }

    private func add(_ node: Node, at index: Int) {
        let (slices, bit) = (slices, UInt64(1) &<< UInt64(index))
        if slices.count > 0 { WordHashes.forEach(in: node.words) { slices[$0] |= bit } }
    }

    /// Writes the bits of all children. Those of neighbours that have been neighbours before are copied together.
    func sign(_ children: some Collection<Child<Node>>) {
        let slices = slices
        guard slices.count > 0 else { return }
        slices.fill(with: 0)
        var (rest, index) = (children[...], 0)
        while let child = rest.first {
            guard let (parent, first) = child.before else {
                add(child.node, at: index)
                (rest, index) = (rest.dropFirst(), index + 1)
                continue
            }
            var count = 0
            while let next = rest.first?.before, next.parent.block == parent.block, next.index == first + count {
                (rest, count) = (rest.dropFirst(), count + 1)
            }
            let (old, kept) = (parent.slices, UInt64.max >> UInt64(64 - count))
            for slice in 0..<old.count { slices[slice] |= (old[slice] &>> UInt64(first) & kept) &<< UInt64(index) }
            index += count
        }
    }
}

extension Child {
    /// Whether the child may have words.
    var hasWords: Bool { before.map { $0.parent.block.wordBytes > 0 } ?? (node.words.count > 0) }
}

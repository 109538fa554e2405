extension Children {
    /// Makes the nodes that replace this node after the edits, which are ordered by key; none if no child is left.
    func edited(by edits: ArraySlice<LeafEdit>, inPartsOf capacity: Int, _ blocks: inout RetiredBlocks) -> [Self] {
        let replacements = replacements(edits, &blocks)
        blocks.replace(block, bytes)
        // The usual case: one child replaces each changed child.
        if replacements.allSatisfy(takesItsPlace) {
            let new = Self(copying: self, &blocks)
            for (index, children) in replacements {
                new.write(children[0], at: index)
                new.sign(children[0].node, at: index)
            }
            return [new]
        }
        var all: [Child<Node>] = []
        all.reserveCapacity(count + replacements.count)
        var next = 0
        for (index, children) in replacements {
            all += (next..<index).map { self[$0] }
            for child in children { all.append(child, &blocks) }
            next = index + 1
        }
        all += (next..<count).map { self[$0] }
        return Self.parts(of: all, capacity: capacity, &blocks)
    }

    /// Divides children into nodes of nearly equal size.
    private static func parts(of children: [Child<Node>], capacity: Int, _ blocks: inout RetiredBlocks) -> [Self] {
        guard !children.isEmpty else { return [] }
        let parts = (children.count - 1) / capacity + 1
        return (0..<parts).map { part in
            Self(children[children.count * part / parts..<children.count * (part + 1) / parts], &blocks)
        }
    }

    private typealias Replacement = (index: Int, children: [Child<Node>])

    /// Makes the children that replace the edited ones.
    private func replacements(_ edits: ArraySlice<LeafEdit>, _ blocks: inout RetiredBlocks) -> [Replacement] {
        var replacements: [Replacement] = []
        replacements.reserveCapacity(Swift.min(edits.count, count))
        var rest = edits
        while let key = rest.first?.key {
            let index = index(for: key)
            let end = index + 1 < count ? rest.partitioningIndex { lows[index + 1] <= $0.key } : rest.endIndex
            let children = node(index).edited(by: rest[..<end], low: Swift.min(lows[index], key), &blocks)
            replacements.append((index, children))
            rest = rest[end...]
        }
        return replacements
    }

    private func takesItsPlace(_ replacement: Replacement) -> Bool {
        guard replacement.children.count == 1, block.wordBytes > 0 || !replacement.children[0].hasWords else { return false }
        return replacement.index == 0 || !replacement.children[0].node.isJoined(to: node(replacement.index - 1))
    }
}

extension TreeNode {
    /// Whether both nodes are small. The condition on this node comes first, because the node before may not be in the cache.
    fileprivate func isJoined(to last: Self) -> Bool {
        count <= Self.capacity / 2 && last.count + count <= Self.capacity / 2
    }
}

extension Array {
    /// Appends a child, or joins it with the last one if both are small.
    mutating func append<Node>(_ child: Child<Node>, _ blocks: inout RetiredBlocks) where Element == Child<Node> {
        guard let last, child.node.isJoined(to: last.node) else { return append(child) }
        self[count - 1] = last.node.joined(with: child.node, low: last.low, &blocks)
        blocks.replace(last.node.block, last.node.bytes)
        blocks.replace(child.node.block, child.node.bytes)
    }
}

extension Children: TreeNode {
    static var capacity: Int { 64 }

    var words: Column<UInt8> { block.column(count: 0) }

    func edited(by edits: ArraySlice<LeafEdit>, low: LeafKey, _ blocks: inout RetiredBlocks) -> [Child<Self>] {
        edited(by: edits, inPartsOf: Self.capacity, &blocks).map(Child.init)
    }

    func joined(with next: Self, low: LeafKey, _ blocks: inout RetiredBlocks) -> Child<Self> {
        Child(Self((0..<count).map { self[$0] } + (0..<next.count).map { next[$0] }, &blocks))
    }
}

extension Children<OuterNode> {
    init(of leaves: [Child<Leaf>], _ blocks: inout RetiredBlocks) {
        let innerNodes = InnerNode.parts(of: leaves, capacity: InnerNode.capacity, &blocks).map(Child.init)
        let outerNodes = OuterNode.parts(of: innerNodes, capacity: OuterNode.capacity, &blocks).map(Child.init)
        self.init(outerNodes, &blocks)
    }
}

extension Child {
    init<Grandchild>(_ children: Children<Grandchild>) where Node == Children<Grandchild> {
        self.init(node: children, low: children.lows[0], bounds: children.bounds)
    }
}

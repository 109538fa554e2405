/// A node of the tree: one block of memory without spare room.
protocol TreeNode: BitwiseCopyable, SendableMetatype {
    /// Maximum number of points or children.
    static var capacity: Int { get }

    var count: Int { get }
    var block: Block { get }
    /// The words of all points, if the parent keeps a signature of them; none otherwise.
    var words: Column<UInt8> { get }
    /// Size of the block.
    var bytes: Int { get }

    /// Makes the nodes that replace this one: none, one or several. The edits are ordered by key.
    func edited(by edits: ArraySlice<LeafEdit>, low: LeafKey, _ blocks: inout RetiredBlocks) -> [Child<Self>]

    /// Joins this node and the next one to one node.
    func joined(with next: Self, low: LeafKey, _ blocks: inout RetiredBlocks) -> Child<Self>

    /// Leads a search to the leaves, in the order of their keys, until the work is used up.
    /// - Parameters:
    ///   - key: what the walk returned before; `nil` begins it
    ///   - count: number of points of the node
    ///   - step: what the search chose for the node
    /// - Returns: the low key of the node with which the walk goes on; `nil` at its end
    func walk(
        from key: LeafKey?, of count: Int, _ step: TreeStep, _ visitor: inout some TreeVisitor, _ work: inout VisitBudget
    ) -> LeafKey?
}

/// A node whose children are leaves.
typealias InnerNode = Children<Leaf>

/// A node whose children are inner nodes. Its siblings are the children of the root: some fifty for ten million points.
typealias OuterNode = Children<InnerNode>

/// A node with its low key and its bounds, which its parent stores.
struct Child<Node: TreeNode> {
    var node: Node
    /// No key of the node is below this key, and all keys of the siblings before are below it.
    var low: LeafKey
    var bounds: Bounds
    /// The node that had the child before, and the child's index there; `nil` for a new child.
    var before: (parent: Children<Node>, index: Int)?
}

/// Nodes in the order of their keys, in one block. Low keys and bounds are in the parent's block, so that a search reads only the
/// children that it needs.
struct Children<Node: TreeNode>: BitwiseCopyable, Sendable {
    /// The count and the bytes of the signature, then one column after another: nodes, low keys, the six sides of the boxes, the four
    /// sides of the boxes in degrees, the limits of the first and of the last moments, and the counts of points; then the signature.
    let block: Block

    init(_ children: some Collection<Child<Node>>, _ blocks: inout RetiredBlocks) {
        let signatureBytes = children.contains(where: \.hasWords) ? Self.signatureBytes : 0
        block = blocks.allocate(Self.bytes(count: children.count) + signatureBytes)
        (block.count, block.wordBytes) = (children.count, signatureBytes)
        for (index, child) in children.enumerated() { write(child, at: index) }
        sign(children)
    }

    init(copying other: Self, _ blocks: inout RetiredBlocks) {
        block = blocks.allocate(other.bytes)
        block.copy(other.bytes, from: other.block)
    }

    /// Called only while the node is made, and so is ``sign(_:at:)``.
    func write(_ child: Child<Node>, at index: Int) {
        nodeColumn[index] = child.node
        lows[index] = child.low
        let bounds = child.bounds
        sides(0)[index] = bounds.box.low.x
        sides(1)[index] = bounds.box.low.y
        sides(2)[index] = bounds.box.low.z
        sides(3)[index] = bounds.box.high.x
        sides(4)[index] = bounds.box.high.y
        sides(5)[index] = bounds.box.high.z
        sides(6)[index] = bounds.degrees.south
        sides(7)[index] = bounds.degrees.west
        sides(8)[index] = bounds.degrees.north
        sides(9)[index] = bounds.degrees.east
        moments(0)[index] = bounds.starts.low
        moments(1)[index] = bounds.starts.high
        moments(2)[index] = bounds.ends.low
        moments(3)[index] = bounds.ends.high
        counts[index] = bounds.count
    }

    var count: Int { block.count }
    var bytes: Int { Self.bytes(count: count) + block.wordBytes }

    /// The bounds of all children together. The node has at least one child.
    var bounds: Bounds {
        func low(_ side: Int) -> Double { Limits(sides(side)).low }
        func high(_ side: Int) -> Double { Limits(sides(side)).high }
        func moments(_ side: Int) -> Limits<Int64> { Limits(self.moments(side)) }
        return Bounds(
            count: (0..<count).reduce(0) { $0 + counts[$1] },
            box: Box(
                low: UnitVector(x: low(0), y: low(1), z: low(2)), high: UnitVector(x: high(3), y: high(4), z: high(5))),
            degrees: DegreeBox(south: low(6), west: low(7), north: high(8), east: high(9)),
            starts: Limits(low: moments(0).low, high: moments(1).high), ends: Limits(low: moments(2).low, high: moments(3).high))
    }

    subscript(index: Int) -> Child<Node> {
        Child(node: node(index), low: lows[index], bounds: bounds(index), before: (self, index))
    }

    func node(_ index: Int) -> Node { nodeColumn[index] }

    var nodes: some RandomAccessCollection<Node> { (0..<count).lazy.map(node) }

    /// The index of the last child whose low key is not above the key; 0 if there is none.
    func index(for key: LeafKey) -> Int {
        let lows = lows
        return max(0, (0..<count).partitioningIndex { key < lows[$0] } - 1)
    }

    private func box(_ index: Int) -> Box {
        Box(
            low: UnitVector(x: sides(0)[index], y: sides(1)[index], z: sides(2)[index]),
            high: UnitVector(x: sides(3)[index], y: sides(4)[index], z: sides(5)[index])
        )
    }

    func bounds(_ index: Int) -> Bounds {
        Bounds(
            count: counts[index], box: box(index), degrees: degrees(index),
            starts: Limits(low: moments(0)[index], high: moments(1)[index]),
            ends: Limits(low: moments(2)[index], high: moments(3)[index]))
    }

    /// Whether no point of a child overlaps the window.
    func isOutside(_ window: ClosedRange<Int64>, _ index: Int) -> Bool {
        moments(0)[index] > window.upperBound || moments(3)[index] < window.lowerBound
    }

    /// Whether all points of a child overlap the window.
    func isInside(_ window: ClosedRange<Int64>, _ index: Int) -> Bool {
        moments(1)[index] <= window.upperBound && moments(2)[index] >= window.lowerBound
    }

    func degrees(_ index: Int) -> DegreeBox {
        DegreeBox(south: sides(6)[index], west: sides(7)[index], north: sides(8)[index], east: sides(9)[index])
    }

    /// Size of the block without the signature.
    static func bytes(count: Int) -> Int { headBytes + count * (nodeBytes + lowBytes + MemoryLayout<Bounds>.stride) }

    private static var headBytes: Int { MemoryLayout<Int>.stride }
    private static var nodeBytes: Int { MemoryLayout<Node>.stride }
    private static var lowBytes: Int { MemoryLayout<LeafKey>.stride }

    private var nodeColumn: Column<Node> { block.column(after: Self.headBytes, count: count) }

    var lows: Column<LeafKey> { block.column(after: Self.headBytes, Self.nodeBytes, count: count) }

    private func sides(_ side: Int) -> Column<Double> { column(side) }

    private func moments(_ side: Int) -> Column<Int64> { column(10 + side) }

    /// The number of points of each child.
    var counts: Column<Int> { column(14) }

    /// - Parameter number: the number of a column of 8-byte values, after the low keys
    private func column<Value: BitwiseCopyable>(_ number: Int) -> Column<Value> {
        block.column(after: Self.headBytes, Self.nodeBytes + Self.lowBytes + number * 8, count: count)
    }
}

/// The results bound the squared chords of all points in a box, to the last bit. ``nearest(to:into:)`` is never above them, and
/// ``farthest(_:from:)`` never below them. Rounding keeps the order of two numbers, and boxes use the same differences, squares
/// and sums as points.
extension Children {
    /// Computes one squared chord for each box. The loop has no condition, so that the compiler can vectorise it.
    func nearest(to place: UnitVector, into chords: Column<Double>) {
        let (lowX, lowY, lowZ) = (sides(0), sides(1), sides(2))
        let (highX, highY, highZ) = (sides(3), sides(4), sides(5))
        for index in 0..<count {
            chords[index] = UnitVector.squaredLength(
                larger(larger(lowX[index] - place.x, place.x - highX[index]), 0),
                larger(larger(lowY[index] - place.y, place.y - highY[index]), 0),
                larger(larger(lowZ[index] - place.z, place.z - highZ[index]), 0)
            )
        }
    }

    /// The squared chord to the farthest point of a box.
    func farthest(_ index: Int, from place: UnitVector) -> Double {
        let box = box(index)
        return UnitVector.squaredLength(
            larger(place.x - box.low.x, box.high.x - place.x),
            larger(place.y - box.low.y, box.high.y - place.y),
            larger(place.z - box.low.z, box.high.z - place.z)
        )
    }

    /// One instruction, where `max` takes three because of NaN.
    @inline(__always)
    private func larger(_ left: Double, _ right: Double) -> Double { left > right ? left : right }
}

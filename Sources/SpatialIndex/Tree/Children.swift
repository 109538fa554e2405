/// A leaf, or children that follow one another: one block of memory, with no room to spare.
protocol TreeNode: BitwiseCopyable, SendableMetatype {
    /// How many events or children it may have.
    static var capacity: Int { get }

    var count: Int { get }
    var block: UnsafeMutableRawPointer { get }
    /// Of the block.
    var bytes: Int { get }

    /// What becomes of it: nothing, a node, or as many as it takes. The edits are by key.
    func edited(by edits: ArraySlice<LeafEdit>, low: LeafKey, _ retiredBlocks: inout RetiredBlocks) -> [Child<Self>]

    /// Both in one.
    func joined(with next: Self, low: LeafKey, _ retiredBlocks: inout RetiredBlocks) -> Child<Self>
}

/// Leaves that follow one another in the order of their keys.
typealias InnerNode = Children<Leaf>

/// Branches that do. The root has all of those, a hundred for ten million events, so that a search looks at few of the innerNodes.
typealias OuterNode = Children<InnerNode>

/// One of those, with what its parent keeps of it.
struct Child<Node: TreeNode> {
    var node: Node
    /// No event stands before it here, and none of an earlier sibling stands behind.
    var low: LeafKey
    var box: Box
}

/// Leaves, innerNodes or outerNodes that follow one another in the order of their keys. In one block, as the events of a ``Leaf``: lows and boxes
/// are beside each other, so that a search touches no child in vain.
///
/// `@unchecked`: the block is written in whoever makes it, before anybody else sees it.
struct Children<Node: TreeNode>: BitwiseCopyable, @unchecked Sendable {
    /// Their count, and then a column after another: nodes, lows, and the six sides of the boxes.
    let block: UnsafeMutableRawPointer

    init(_ children: some Collection<Child<Node>>, _ retiredBlocks: inout RetiredBlocks) {
        block = retiredBlocks.allocate(Self.bytes(count: children.count))
        block.storeBytes(of: children.count, as: Int.self)
        for (index, child) in children.enumerated() { write(child, at: index) }
    }

    init(copying other: Self, _ retiredBlocks: inout RetiredBlocks) {
        block = retiredBlocks.allocate(other.bytes)
        block.copyMemory(from: other.block, byteCount: other.bytes)
    }

    /// Only while it is made.
    func write(_ child: Child<Node>, at index: Int) {
        nodes[index] = child.node
        lows[index] = child.low
        sides(0)[index] = child.box.low.x
        sides(1)[index] = child.box.low.y
        sides(2)[index] = child.box.low.z
        sides(3)[index] = child.box.high.x
        sides(4)[index] = child.box.high.y
        sides(5)[index] = child.box.high.z
    }

    var count: Int { block.load(as: Int.self) }
    var bytes: Int { Self.bytes(count: count) }

    /// Around all of them.
    var box: Box { (0..<count).reduce(into: .empty) { $0.cover(box($1)) } }

    subscript(index: Int) -> Child<Node> { Child(node: node(index), low: lows[index], box: box(index)) }

    func node(_ index: Int) -> Node { nodes[index] }

    func low(_ index: Int) -> LeafKey { lows[index] }

    /// Of the last that is not behind the key, or of the first.
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

    private static func bytes(count: Int) -> Int { headBytes + count * (nodeBytes + lowBytes + MemoryLayout<Box>.stride) }

    private static var headBytes: Int { MemoryLayout<Int>.stride }
    private static var nodeBytes: Int { MemoryLayout<Node>.stride }
    private static var lowBytes: Int { MemoryLayout<LeafKey>.stride }

    var nodes: UnsafeMutableBufferPointer<Node> {
        UnsafeMutableBufferPointer(start: (block + Self.headBytes).assumingMemoryBound(to: Node.self), count: count)
    }

    private var lows: UnsafeMutablePointer<LeafKey> {
        (block + Self.headBytes + count * Self.nodeBytes).assumingMemoryBound(to: LeafKey.self)
    }

    private func sides(_ side: Int) -> UnsafeMutablePointer<Double> {
        let offset = Self.nodeBytes + Self.lowBytes + side * MemoryLayout<Double>.stride
        return (block + Self.headBytes + count * offset).assumingMemoryBound(to: Double.self)
    }
}

/// No place in a box is measured nearer than ``nearest(to:into:)`` or farther than ``farthest(_:from:)``, to the last bit: rounding
/// never turns the order of two numbers round, and here as there it is the same differences, squares and sums that are rounded.
extension Children {
    /// One squared chord a box. A loop without conditions, so that the compiler measures several boxes at a time.
    func nearest(to place: UnitVector, into chords: UnsafeMutableBufferPointer<Double>) {
        guard let chords = chords.baseAddress else { return }
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

    /// The squared chord.
    func farthest(_ index: Int, from place: UnitVector) -> Double {
        let box = box(index)
        return UnitVector.squaredLength(
            larger(place.x - box.low.x, box.high.x - place.x),
            larger(place.y - box.low.y, box.high.y - place.y),
            larger(place.z - box.low.z, box.high.z - place.z)
        )
    }

    /// One instruction where `max` is three: it says nothing of numbers that are none.
    @inline(__always)
    private func larger(_ left: Double, _ right: Double) -> Double { left > right ? left : right }
}

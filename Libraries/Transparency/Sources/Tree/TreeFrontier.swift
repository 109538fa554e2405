public import Hashing

/// A Merkle tree that only grows, as the roots of its perfect subtrees: at most one for each bit of its size.
///
///     var tree = TreeFrontier()
///     for entry in entries { tree.append(MerkleTree.leafHash(of: entry)) }
///     #expect(tree.root == root)
///
/// An append costs one node hash on average. The whole value has at most 57 hashes.
public struct TreeFrontier: Sendable, Hashable {
    /// The number of leaves.
    public private(set) var size: Int64 = 0
    /// From left to right, which is from high to low.
    private var subtrees: [SHA256.Digest] = []

    public init() {}

    /// The Merkle tree hash of all leaves (RFC 6962, section 2.1).
    public var root: SHA256.Digest { MerkleTree.hash(above: subtrees) ?? MerkleTree.emptyRoot }

    /// Appends a leaf.
    public mutating func append(_ leaf: SHA256.Digest) { append(leaf, height: 0) { _, _ in } }

    /// Appends the root of a perfect subtree.
    /// - Parameters:
    ///   - height: 0 for a leaf; a multiple of the subtree's size must be there already
    ///   - completing: called with each perfect subtree that ends here, from this one upwards
    mutating func append(
        _ subtree: SHA256.Digest, height: Int, completing: (_ height: Int, _ hash: SHA256.Digest) -> Void
    ) {
        precondition(size & (1 << height - 1) == 0 && size < MerkleTree.maximumSize)
        var (hash, height) = (subtree, height)
        size += 1 << height
        completing(height, hash)
        // Each carry of the addition joins two subtrees.
        while size & (1 << height) == 0, let left = subtrees.popLast() {
            hash = MerkleTree.nodeHash(left, hash)
            height += 1
            completing(height, hash)
        }
        subtrees.append(hash)
    }
}

public import Hashing

/// The proof that a tree of some size has an entry at some index (RFC 6962, section 2.1.1).
public struct InclusionProof: Sendable, Hashable {
    /// The most hashes of a proof.
    public static let maximumHashes = 56

    /// The place of the entry, from 0.
    public var index: Int64
    /// The size of the tree.
    public var size: Int64
    /// From the sibling of the leaf up to the child of the root.
    public var hashes: [SHA256.Digest]

    public init(index: Int64, size: Int64, hashes: [SHA256.Digest]) {
        (self.index, self.size, self.hashes) = (index, size, hashes)
    }

    /// Verifies that the tree with this root has this leaf at the index.
    /// - Throws: ``ProofError`` that says what differs
    public func verify(leaf: SHA256.Digest, root: SHA256.Digest) throws(ProofError) {
        let computed = try self.root(above: leaf)
        guard computed == root else { throw .rootDiffers(size: size, expected: root, computed: computed) }
    }

    /// Computes the root of the tree in which this leaf has the proof. Source: RFC 9162, section 2.1.3.2.
    func root(above leaf: SHA256.Digest) throws(ProofError) -> SHA256.Digest {
        guard index >= 0, index < size, size <= MerkleTree.maximumSize else {
            throw .outsideOfTree(index: index, size: size)
        }
        var (node, last, hash) = (index, size - 1, leaf)
        for sibling in hashes {
            guard last > 0 else { throw .tooManyHashes }
            if node & 1 == 1 || node == last {
                hash = MerkleTree.nodeHash(sibling, hash)
                // A node without a right sibling is its own parent.
                while node & 1 == 0, node > 0 { (node, last) = (node >> 1, last >> 1) }
            } else {
                hash = MerkleTree.nodeHash(hash, sibling)
            }
            (node, last) = (node >> 1, last >> 1)
        }
        guard last == 0 else { throw .tooFewHashes }
        return hash
    }
}

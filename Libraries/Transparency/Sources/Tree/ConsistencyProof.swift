public import Hashing

/// The proof that a tree begins with all entries of a smaller one (RFC 6962, section 2.1.2).
public struct ConsistencyProof: Sendable, Hashable {
    public var oldSize: Int64
    public var newSize: Int64
    public var hashes: [SHA256.Digest]

    public init(oldSize: Int64, newSize: Int64, hashes: [SHA256.Digest]) {
        (self.oldSize, self.newSize, self.hashes) = (oldSize, newSize, hashes)
    }

    /// Verifies that the tree with the new root begins with all entries of the tree with the old root. Source: RFC 9162, section 2.1.4.2.
    /// - Throws: ``ProofError`` that says what differs
    public func verify(oldRoot: SHA256.Digest, newRoot: SHA256.Digest) throws(ProofError) {
        guard oldSize >= 0, oldSize <= newSize, newSize <= MerkleTree.maximumSize else {
            throw .shrinks(oldSize: oldSize, newSize: newSize)
        }
        // Every tree begins with no entries, and with its own.
        guard oldSize > 0, oldSize < newSize else {
            guard hashes.isEmpty else { throw .tooManyHashes }
            if oldSize == 0 { try Self.compare(oldRoot, MerkleTree.emptyRoot, size: 0) }
            if oldSize == newSize { try Self.compare(newRoot, oldRoot, size: newSize) }
            return
        }
        // A perfect tree is a node of the larger one, which the proof leaves out.
        let isPerfect = oldSize.nonzeroBitCount == 1
        var rest = hashes[...]
        guard let first = isPerfect ? oldRoot : rest.popFirst() else { throw .tooFewHashes }
        var (node, last) = (oldSize - 1, newSize - 1)
        while node & 1 == 1 { (node, last) = (node >> 1, last >> 1) }
        var (old, new) = (first, first)
        for sibling in rest {
            guard last > 0 else { throw .tooManyHashes }
            if node & 1 == 1 || node == last {
                old = MerkleTree.nodeHash(sibling, old)
                new = MerkleTree.nodeHash(sibling, new)
                while node & 1 == 0, node > 0 { (node, last) = (node >> 1, last >> 1) }
            } else {
                new = MerkleTree.nodeHash(new, sibling)
            }
            (node, last) = (node >> 1, last >> 1)
        }
        guard last == 0 else { throw .tooFewHashes }
        try Self.compare(oldRoot, old, size: oldSize)
        try Self.compare(newRoot, new, size: newSize)
    }

    private static func compare(
        _ expected: SHA256.Digest, _ computed: SHA256.Digest, size: Int64
    ) throws(ProofError) {
        guard expected == computed else { throw .rootDiffers(size: size, expected: expected, computed: computed) }
    }
}

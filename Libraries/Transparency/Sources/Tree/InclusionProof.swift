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

    /// The tiles that a proof is made of: at each level that with a node above the entry, and the last one.
    public static func tiles(of index: Int64, in size: Int64) -> Set<Tile> {
        Set(
            Tile.levels.flatMap { level in
                let last = size >> (Tile.height * level) - 1
                return last < 0
                    ? [] : [min(index >> (Tile.height * level), last), last].map { Tile(level: level, index: $0 >> Tile.height) }
            })
    }

    /// Makes a proof (RFC 6962, section 2.1.1, PATH).
    /// - Parameter hashes: returns the hashes of one of the ``tiles(of:in:)``; those of a larger tree are ignored
    /// - Throws: ``ProofError/outsideOfTree(index:size:)``, ``ProofError/missingTile(path:)``, and what the closure throws
    public init(of index: Int64, in size: Int64, hashes: (Tile) throws -> [SHA256.Digest]) throws {
        guard index >= 0, index < size else { throw ProofError.outsideOfTree(index: index, size: size) }
        var (range, path) = (0..<size, [SHA256.Digest]())
        while range.count > 1 {
            let middle = range.lowerBound + MerkleTree.split(Int64(range.count))
            let (left, right) = (range.lowerBound..<middle, middle..<range.upperBound)
            path.append(try MerkleTree.hash(of: index < middle ? right : left, hashes))
            range = index < middle ? left : right
        }
        self.init(index: index, size: size, hashes: path.reversed())
    }

    /// Verifies that the tree with this root has this leaf at the index. Source: RFC 9162, section 2.1.3.2.
    /// - Throws: ``ProofError`` that says what differs
    public func verify(leaf: SHA256.Digest, root: SHA256.Digest) throws(ProofError) {
        guard index >= 0, index < size, size <= MerkleTree.maximumSize else {
            throw .outsideOfTree(index: index, size: size)
        }
        var (node, last, hash) = (index, size - 1, leaf)
        for sibling in hashes {
            guard last > 0 else { throw .wrongNumberOfHashes }
            if node & 1 == 1 || node == last {
                hash = MerkleTree.nodeHash(sibling, hash)
                // A node without a right sibling is its own parent.
                while node & 1 == 0, node > 0 { (node, last) = (node >> 1, last >> 1) }
            } else {
                hash = MerkleTree.nodeHash(hash, sibling)
            }
            (node, last) = (node >> 1, last >> 1)
        }
        guard last == 0 else { throw .wrongNumberOfHashes }
        guard hash == root else { throw .rootDiffers(size: size, expected: root, computed: hash) }
    }
}

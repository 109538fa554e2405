public import Hashing

/// A Merkle tree that only grows, as its right edge: for each level of tiles, the hashes behind the last full tile.
///
/// The whole value has at most 8 × 255 hashes, whatever the size of the tree. An append costs one node hash on average, and a root as many
/// as the value has hashes.
public struct TreeGrowth: Sendable, Hashable {
    /// Number of leaves.
    public private(set) var size: Int64 = 0
    private var edge = Tile.levels.map { _ in [SHA256.Digest]() }

    public init() {}

    /// The tiles that the next leaves of a tree need.
    public static func tiles(of size: Int64) -> [Tile] { Tile.levels.compactMap { Tile(last: $0, of: size)?.full } }

    /// Continues a tree.
    /// - Parameter hashes: returns the hashes of one of the ``tiles(of:)``; more than the tree has are ignored
    /// - Throws: ``ProofError/missingTile(path:)`` if a tile has fewer, and what the closure throws
    public init(size: Int64, hashes: (Tile) throws -> [SHA256.Digest]) throws {
        self.size = size
        for level in Tile.levels {
            guard let tile = Tile(last: level, of: size) else { continue }
            edge[level] = Array(try hashes(tile.full).prefix(tile.width))
            guard edge[level].count == tile.width else { throw ProofError.missingTile(path: tile.path) }
        }
    }

    /// The Merkle tree hash of all leaves (RFC 6962, section 2.1).
    public var root: SHA256.Digest {
        var subtrees: [SHA256.Digest] = []
        for hashes in edge.reversed() {
            var rest = hashes[...]
            while !rest.isEmpty {
                let perfect = rest.prefix(1 << MerkleTree.floorLog2(Int64(rest.count)))
                subtrees.append(MerkleTree.hash(ofPerfect: perfect))
                rest = rest.dropFirst(perfect.count)
            }
        }
        return MerkleTree.hash(above: subtrees) ?? MerkleTree.emptyRoot
    }

    /// Appends leaves.
    /// - Returns: the tiles that have changed, with all their hashes: the full ones, and then those at the right end
    @discardableResult
    public mutating func append(_ leaves: some Sequence<SHA256.Digest>) -> [(tile: Tile, hashes: [SHA256.Digest])] {
        let formerSize = size
        var changed: [(tile: Tile, hashes: [SHA256.Digest])] = []
        for leaf in leaves {
            precondition(size < MerkleTree.maximumSize)
            size += 1
            var hash = leaf
            for level in edge.indices {
                edge[level].append(hash)
                guard edge[level].count == Tile.fullWidth else { break }
                changed.append((Tile(level: level, index: size >> (Tile.height * (level + 1)) - 1), edge[level]))
                hash = MerkleTree.hash(ofPerfect: edge[level][...])
                edge[level].removeAll(keepingCapacity: true)
            }
        }
        for level in edge.indices where size >> (Tile.height * level) > formerSize >> (Tile.height * level) {
            if let tile = Tile(last: level, of: size) { changed.append((tile, edge[level])) }
        }
        return changed
    }
}

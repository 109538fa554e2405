internal import Encoding
public import Hashing

/// The first part of a published tree that does not fit the rest.
public enum TreeDifference: Sendable, Hashable {
    /// The entry at this index does not have the hash of its leaf.
    case entry(index: Int64)
    /// A hash of this file is not that of the subtree below it.
    case tile(path: String)
    /// The leaves do not have the root of the checkpoint.
    case root(computed: SHA256.Digest)
}

extension PublishedTree {
    /// Reads the whole tree, and compares the entries with the leaves, each tile with the tiles below it, and the leaves with the root.
    /// - Returns: `nil` if all of it fits
    /// - Throws: ``TreeError`` if a file is missing or cannot be read
    public func firstDifference() throws(TreeError) -> TreeDifference? {
        var tree = TreeFrontier()
        // The computed hashes of each level above the leaves, up to those of a tile.
        var computed = Tile.levels.map { _ in [SHA256.Digest]() }
        for start in stride(from: 0, to: checkpoint.size, by: Tile.fullWidth) {
            let leaves = try leafHashes(from: start)
            if let place = try firstWrongEntry(from: start, leaves) { return .entry(index: start + Int64(place)) }
            for leaf in leaves {
                var level = 0
                tree.append(leaf, height: 0) { height, hash in
                    guard height % Tile.height == 0 else { return }
                    if level > 0 { computed[level].append(hash) }
                    level += 1
                }
            }
            let isLast = tree.size == checkpoint.size
            for level in computed.indices where computed[level].count == Tile.fullWidth || isLast && !computed[level].isEmpty {
                let place = tree.size >> (Tile.height * level) - 1
                let tile = Tile(.hashes(level: level), with: place, in: checkpoint.size)
                guard try directory.hashes(of: tile) == computed[level] else { return .tile(path: tile.path) }
                computed[level] = []
            }
        }
        return tree.root == checkpoint.root ? nil : .root(computed: tree.root)
    }

    private func firstWrongEntry(from start: Int64, _ leaves: [SHA256.Digest]) throws(TreeError) -> Int? {
        let (bytes, ranges) = try directory.entries(of: Tile(.entries, with: start, in: checkpoint.size))
        return leaves.indices.first { place in
            bytes.withRawSpan(of: ranges[place]) { MerkleTree.leafHash(of: $0) } != leaves[place]
        }
    }
}

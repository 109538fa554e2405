internal import Encoding
internal import Hashing

/// The right edge of a tree: all that its next entries need.
struct TreeEdge: Sendable {
    private(set) var tree = TreeFrontier()
    /// The hashes behind the last full tile of each level.
    private var hashes = Tile.levels.map { _ in [SHA256.Digest]() }
    /// The entries behind the last full bundle, in its format.
    private var bundle: [UInt8] = []

    init() {}

    /// Reads the partial tiles of a checkpoint.
    /// - Throws: ``TreeError/checkpoint(_:)`` if the tiles have another root
    init(of checkpoint: LogCheckpoint, in directory: TileDirectory) throws(TreeError) {
        for level in Tile.levels.reversed() {
            guard let tile = Tile(last: .hashes(level: level), of: checkpoint.size) else { continue }
            hashes[level] = try directory.hashes(of: tile)
            for hash in hashes[level] { tree.append(hash, height: level * Tile.height) { _, _ in } }
        }
        guard tree.root == checkpoint.root else {
            throw .checkpoint(.rootDiffers(size: checkpoint.size, expected: checkpoint.root, computed: tree.root))
        }
        guard let tile = Tile(last: .entries, of: checkpoint.size) else { return }
        let (bytes, ranges) = try directory.entries(of: tile)
        for (place, range) in ranges.enumerated()
        where bytes.withRawSpan(of: range, { MerkleTree.leafHash(of: $0) }) != hashes[0][place] {
            throw .malformed(path: tile.path, reason: "its entry \(place) does not have the hash of the tree")
        }
        bundle = Array(bytes.prefix(ranges.last?.upperBound ?? 0))
    }

    mutating func append(_ entry: [UInt8]) {
        EntryBundle.append(entry, to: &bundle)
        var completed: [SHA256.Digest] = []
        tree.append(MerkleTree.leafHash(of: entry), height: 0) { height, hash in
            if height % Tile.height == 0 { completed.append(hash) }
        }
        for (level, hash) in completed.enumerated() { hashes[level].append(hash) }
    }

    /// Takes a tile that is full out of the edge, with its bytes. `nil` if no tile is full.
    mutating func takeFullTile() -> (Tile, [UInt8])? {
        if hashes[0].count == Tile.fullWidth, !bundle.isEmpty {
            defer { bundle.removeAll(keepingCapacity: true) }
            return (Tile(.entries, index: tree.size / Int64(Tile.fullWidth) - 1), bundle)
        }
        guard let level = hashes.firstIndex(where: { $0.count == Tile.fullWidth }) else { return nil }
        defer { hashes[level].removeAll(keepingCapacity: true) }
        return (Tile(.hashes(level: level), index: tree.size >> (Tile.height * (level + 1)) - 1), Self.bytes(of: hashes[level]))
    }

    /// The partial tiles with their bytes.
    /// - Parameter size: the size of a tree whose tiles are left out
    func partialTiles(notIn size: Int64) -> [(Tile, [UInt8])] {
        let contents = [(Tile.Content.entries, bundle)] + Tile.levels.map { (.hashes(level: $0), Self.bytes(of: hashes[$0])) }
        return contents.compactMap { content, bytes in
            guard let tile = Tile(last: content, of: tree.size), tile != Tile(last: content, of: size) else { return nil }
            return (tile, bytes)
        }
    }

    private static func bytes(of hashes: [SHA256.Digest]) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(hashes.count * SHA256.Digest.byteCount)
        for hash in hashes { bytes.append(hash) }
        return bytes
    }
}

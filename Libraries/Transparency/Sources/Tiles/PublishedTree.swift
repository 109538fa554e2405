internal import Encoding
public import Hashing

/// A tree as its tiles publish it, at the size of a checkpoint: its entries, and proofs about it.
///
/// A value keeps nothing but the checkpoint. It reads the few tiles of a proof for each proof, and stays usable while the tree grows.
public struct PublishedTree: Sendable {
    let directory: TileDirectory
    /// The checkpoint with its signatures.
    public let note: SignedNote
    public let checkpoint: LogCheckpoint

    /// The tree of the newest checkpoint, whose signature is verified. `nil` before the first checkpoint.
    /// - Throws: ``TreeError/checkpoint(_:)`` if another key signed the checkpoint; ``TreeError`` if it cannot be read
    public init?(_ directory: TileDirectory, signedBy key: VerifierKey) throws(TreeError) {
        guard let note = try directory.checkpoint() else { return nil }
        (self.directory, self.note) = (directory, note)
        checkpoint = try LogCheckpoint(newest: note, signedBy: key)
    }

    /// - Throws: ``TreeError/outsideOfTree(place:size:)``, and ``TreeError`` if a file is missing or cannot be read
    public func entry(at index: Int64) throws(TreeError) -> [UInt8] {
        try check(index, in: 0..<checkpoint.size)
        let (bytes, ranges) = try directory.entries(of: Tile(.entries, with: index, in: checkpoint.size))
        return Array(bytes[ranges[Int(index % Int64(Tile.fullWidth))]])
    }

    /// The hashes of up to 256 leaves, for a comparison of all entries with the tree.
    /// - Parameter index: the first one, a multiple of 256
    /// - Throws: as ``entry(at:)``
    public func leafHashes(from index: Int64) throws(TreeError) -> [SHA256.Digest] {
        try check(index, in: 0..<checkpoint.size)
        return try directory.hashes(of: Tile(.hashes(level: 0), with: index, in: checkpoint.size))
    }

    /// The root that the tree had at an earlier size.
    /// - Throws: as ``entry(at:)``
    public func root(at size: Int64) throws(TreeError) -> SHA256.Digest {
        try check(size, in: 0..<checkpoint.size + 1)
        var tiles = TileCache(directory, size: checkpoint.size)
        return size == 0 ? MerkleTree.emptyRoot : try tiles.hash(of: 0..<size)
    }

    /// Proves that the tree of a size has its entry at an index (RFC 6962, section 2.1.1, PATH).
    /// - Parameter size: `nil` for that of the checkpoint
    /// - Throws: as ``entry(at:)``
    public func inclusionProof(of index: Int64, in size: Int64? = nil) throws(TreeError) -> InclusionProof {
        let size = size ?? checkpoint.size
        try check(size, in: 1..<checkpoint.size + 1)
        try check(index, in: 0..<size)
        var tiles = TileCache(directory, size: checkpoint.size)
        var (range, hashes) = (0..<size, [SHA256.Digest]())
        while range.count > 1 {
            let (left, right) = range.halves
            if index < right.lowerBound {
                hashes.append(try tiles.hash(of: right))
                range = left
            } else {
                hashes.append(try tiles.hash(of: left))
                range = right
            }
        }
        return InclusionProof(index: index, size: size, hashes: hashes.reversed())
    }

    /// Proves that the tree of the checkpoint begins with the entries of an earlier size (RFC 6962, section 2.1.2, PROOF).
    /// - Parameter newSize: `nil` for that of the checkpoint
    /// - Throws: as ``entry(at:)``
    public func consistencyProof(from oldSize: Int64, to newSize: Int64? = nil) throws(TreeError) -> ConsistencyProof {
        let newSize = newSize ?? checkpoint.size
        try check(newSize, in: 0..<checkpoint.size + 1)
        try check(oldSize, in: 0..<newSize + 1)
        var tiles = TileCache(directory, size: checkpoint.size)
        var (range, hashes, isOldTree) = (0..<newSize, [SHA256.Digest](), true)
        while oldSize > 0, oldSize < range.upperBound {
            let (left, right) = range.halves
            if oldSize <= right.lowerBound {
                hashes.append(try tiles.hash(of: right))
                range = left
            } else {
                hashes.append(try tiles.hash(of: left))
                (range, isOldTree) = (right, false)
            }
        }
        // The verifier knows the root of the old tree.
        if !isOldTree { hashes.append(try tiles.hash(of: range)) }
        return ConsistencyProof(oldSize: oldSize, newSize: newSize, hashes: hashes.reversed())
    }

    /// Makes the file that proves an entry without this directory.
    /// - Throws: as ``entry(at:)``
    public func proof(of index: Int64) throws(TreeError) -> ProofFile {
        ProofFile(entry: try entry(at: index), index: index, hashes: try inclusionProof(of: index).hashes, note: note)
    }

    private func check(_ place: Int64, in range: Range<Int64>) throws(TreeError) {
        guard range.contains(place) else { throw .outsideOfTree(place: place, size: checkpoint.size) }
    }
}

/// The tiles of one proof: each is read once.
private struct TileCache {
    private let directory: TileDirectory
    private let size: Int64
    private var tiles: [Tile: [SHA256.Digest]] = [:]

    init(_ directory: TileDirectory, size: Int64) { (self.directory, self.size) = (directory, size) }

    /// The Merkle tree hash of some leaves, which begin at a multiple of the largest perfect subtree among them.
    mutating func hash(of range: Range<Int64>) throws(TreeError) -> SHA256.Digest {
        var (subtrees, start) = ([SHA256.Digest](), range.lowerBound)
        while start < range.upperBound {
            let height = MerkleTree.floorLog2(range.upperBound - start)
            subtrees.append(try hash(ofSubtree: height, from: start))
            start += 1 << height
        }
        return MerkleTree.hash(above: subtrees) ?? MerkleTree.emptyRoot
    }

    /// The hash of a perfect subtree: one of a tile, or a few of a tile hashed together.
    private mutating func hash(ofSubtree height: Int, from leaf: Int64) throws(TreeError) -> SHA256.Digest {
        let level = height / Tile.height
        let place = leaf >> (level * Tile.height)
        let tile = Tile(.hashes(level: level), with: place, in: size)
        let hashes = if let read = tiles[tile] { read } else { try directory.hashes(of: tile) }
        tiles[tile] = hashes
        let first = Int(place % Int64(Tile.fullWidth))
        return MerkleTree.hash(ofPerfect: hashes[first..<first + 1 << (height % Tile.height)])
    }
}

extension Range<Int64> {
    /// The two parts of leaves below one node.
    fileprivate var halves: (Range<Int64>, Range<Int64>) {
        let middle = lowerBound + MerkleTree.split(upperBound - lowerBound)
        return (lowerBound..<middle, middle..<upperBound)
    }
}

public import Hashing

/// The hashes of a Merkle tree over a list of entries (RFC 6962, section 2.1), with SHA-256.
public enum MerkleTree {
    /// The most entries of a tree. It keeps all sums of sizes in range.
    public static let maximumSize: Int64 = 1 << 56

    /// The root of a tree without entries: the digest of no bytes.
    public static let emptyRoot = SHA256.hash([])

    /// The hash of an entry, behind a byte 0. So no entry has the hash of a node.
    public static func leafHash(of entry: some Collection<UInt8>) -> SHA256.Digest {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + entry.count)
        bytes.append(0)
        bytes.append(contentsOf: entry)
        return SHA256.hash(bytes)
    }

    /// The hash of a node, behind a byte 1.
    static func nodeHash(_ left: SHA256.Digest, _ right: SHA256.Digest) -> SHA256.Digest {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(1 + 2 * SHA256.Digest.byteCount)
        bytes.append(1)
        bytes.append(left)
        bytes.append(right)
        return SHA256.hash(bytes)
    }

    /// The hash of a node above perfect subtrees that lie side by side, the higher ones first. `nil` for no subtree.
    static func hash(above subtrees: [SHA256.Digest]) -> SHA256.Digest? {
        guard var hash = subtrees.last else { return nil }
        for left in subtrees.dropLast().reversed() { hash = nodeHash(left, hash) }
        return hash
    }

    /// The hash of a perfect subtree with these nodes at its bottom.
    /// - Parameter nodes: a power of two of them
    static func hash(ofPerfect nodes: ArraySlice<SHA256.Digest>) -> SHA256.Digest {
        precondition(nodes.count.nonzeroBitCount == 1)
        var row = Array(nodes)
        while row.count > 1 {
            for place in 0..<row.count / 2 { row[place] = nodeHash(row[2 * place], row[2 * place + 1]) }
            row.removeLast(row.count / 2)
        }
        return row[0]
    }

    /// The hash of some leaves, from the tiles above them. They begin at a multiple of the largest perfect subtree among them.
    /// - Parameter hashes: the hashes of a tile, of which those of a larger tree are ignored
    static func hash(of leaves: Range<Int64>, _ hashes: (Tile) throws -> [SHA256.Digest]) throws -> SHA256.Digest {
        var (subtrees, start) = ([SHA256.Digest](), leaves.lowerBound)
        while start < leaves.upperBound {
            let height = floorLog2(leaves.upperBound - start)
            let level = height / Tile.height
            let (index, place) = (start >> (Tile.height * level)).quotientAndRemainder(dividingBy: Int64(Tile.fullWidth))
            let nodes = Int(place)..<Int(place) + 1 << (height % Tile.height)
            let tile = Tile(level: level, index: index)
            let known = try hashes(tile)
            guard nodes.upperBound <= known.count else { throw ProofError.missingTile(path: tile.path) }
            subtrees.append(hash(ofPerfect: known[nodes]))
            start += 1 << height
        }
        return hash(above: subtrees) ?? emptyRoot
    }

    /// The largest power of two below a count, RFC 6962's k.
    /// - Precondition: the count is at least 2
    static func split(_ count: Int64) -> Int64 { 1 << floorLog2(count - 1) }

    /// - Precondition: the number is positive
    static func floorLog2(_ number: Int64) -> Int { Int64.bitWidth - 1 - number.leadingZeroBitCount }
}

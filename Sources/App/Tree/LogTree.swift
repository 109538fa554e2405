internal import EventStore
internal import Hashing
internal import Postgres
internal import Transparency

/// The Merkle tree over the log, as ``TreeSubscription`` keeps it in PostgreSQL: tiles, and the newest signed checkpoint. The entries are
/// read from the log each time. docs/decisions/0060-transparency.md
struct LogTree: Sendable {
    /// Number of entries in memory.
    static let page: Int64 = 1_000
    /// Because `tlog-tiles` writes the length of an entry in two bytes.
    private static let longestEntry = 65_535

    let client: any PostgresQuerying

    /// The newest checkpoint; `nil` before the first one.
    /// - Throws: `ProofError`, `PostgresError`
    func newest() async throws -> SignedNote? {
        let notes = try await client.query("SELECT note FROM log.tree_checkpoints ORDER BY size DESC LIMIT 1").decode(String.self)
        return try notes.first.map { try SignedNote(Array($0.utf8)) }
    }

    /// The hashes of tiles. Those that are not there are left out, and a tile may have more than its width.
    func hashes(of tiles: some Collection<Tile>) async throws -> [Tile: [SHA256.Digest]] {
        let (levels, indexes) = (tiles.map { Int16($0.level ?? 0) }, tiles.map(\.index))
        let rows = try await client.query(
            """
            SELECT t.level, t.index, t.hashes FROM unnest(\(levels), \(indexes)) AS wanted (level, index)
            JOIN log.tiles AS t USING (level, index)
            """
        ).decode((Int16, Int64, Bytea).self)
        return Dictionary(
            rows.map { level, index, hashes in
                let starts = stride(from: 0, to: hashes.bytes.count, by: SHA256.Digest.byteCount)
                return (
                    Tile(level: Int(level), index: index),
                    starts.compactMap { SHA256.Digest(hashes.bytes[$0..<$0 + SHA256.Digest.byteCount]) }
                )
            }, uniquingKeysWith: { $1 })
    }

    /// The entries from an index on, of a log that has so many.
    /// - Throws: `LogGapError` if the log has fewer, ``BrokenTree`` if one is too long, `PostgresError`
    func entries(from index: Int64, count: Int64) async throws -> [[UInt8]] {
        let rows = try await client.query("SELECT position, entry FROM log.entries(\(index), \(count))").decode(
            (Int64, String).self)
        for (place, row) in rows.enumerated() {
            guard row.0 == index + Int64(place) + 1 else { throw LogGapError(after: index + Int64(place)) }
            guard row.1.utf8.count <= Self.longestEntry else {
                throw BrokenTree(reason: "the entry at position \(row.0) has more than \(Self.longestEntry) bytes")
            }
        }
        guard rows.count == count else { throw LogGapError(after: index + Int64(rows.count)) }
        return rows.map { Array($0.1.utf8) }
    }

    /// Appends the next entries of the log to a tree.
    /// - Returns: the tiles that have changed
    /// - Throws: as ``entries(from:count:)``
    func extend(_ growth: inout TreeGrowth, to size: Int64) async throws -> [(tile: Tile, hashes: [SHA256.Digest])] {
        let entries = try await entries(from: growth.size, count: min(Self.page, size - growth.size))
        return growth.append(entries.map { MerkleTree.leafHash(of: $0) })
    }

    /// The right edge of the tree, which has the root of the newest checkpoint.
    /// - Throws: `ProofError` if it has not, or if another key signed the checkpoint; `PostgresError`
    func growth(signedBy key: VerifierKey) async throws -> TreeGrowth {
        guard let note = try await newest() else { return TreeGrowth() }
        let checkpoint = try Checkpoint(note, signedBy: key)
        let tiles = try await hashes(of: TreeGrowth.tiles(of: checkpoint.size))
        let growth = try TreeGrowth(size: checkpoint.size) { tiles[$0] ?? [] }
        guard growth.root == checkpoint.root else {
            throw ProofError.rootDiffers(size: checkpoint.size, expected: checkpoint.root, computed: growth.root)
        }
        return growth
    }

    /// The proof that the log of the newest checkpoint has a recorded event. The signature of the checkpoint is not verified.
    /// - Returns: `nil` if the checkpoint does not cover the position
    /// - Throws: `ProofError` if the log or the tree was changed, `LogGapError`, `PostgresError`
    func proof(of position: Int64) async throws -> ProofFile? {
        guard let note = try await newest() else { return nil }
        let (index, checkpoint) = (position - 1, try Checkpoint(unverified: note))
        guard index < checkpoint.size else { return nil }
        let tiles = try await hashes(of: InclusionProof.tiles(of: index, in: checkpoint.size))
        let path = try InclusionProof(of: index, in: checkpoint.size) { tiles[$0] ?? [] }
        let entry = try await entries(from: index, count: 1)[0]
        try path.verify(leaf: MerkleTree.leafHash(of: entry), root: checkpoint.root)
        return ProofFile(entry: entry, path: path, note: note)
    }
}

/// The log and its stored tree contradict each other, or the tree has another key. No checkpoint may follow, and nothing is published.
struct BrokenTree: StandstillError, CustomStringConvertible {
    var reason: String
    var description: String { "the Merkle tree over the log cannot go on: \(reason)" }
}

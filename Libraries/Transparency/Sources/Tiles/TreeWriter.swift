internal import Foundation
internal import Hashing

/// The one writer of a published tree: appends entries and signs a checkpoint after each batch.
///
/// A batch first writes its full tiles, then the partial ones, and the checkpoint last. So the newest checkpoint always finds its tiles,
/// and a writer that is killed at any moment begins again behind the newest checkpoint. Every append returns after the disk has it.
public struct TreeWriter: ~Copyable, Sendable {
    private let directory: TileDirectory
    private let key: SigningKey
    private let lock: DirectoryLock
    private var edge: TreeEdge
    /// The newest checkpoint.
    public private(set) var checkpoint: LogCheckpoint

    /// Reads the right edge of the tree, and compares it with the newest checkpoint. A directory without a checkpoint gets one of no entries.
    /// - Throws: ``TreeError/inUse(path:)`` beside another writer; ``TreeError/checkpoint(_:)`` if another key signed the checkpoint or its root
    ///   differs; ``TreeError`` if a file is missing or cannot be read
    public init(_ directory: TileDirectory, key: SigningKey) throws(TreeError) {
        let lock = try DirectoryLock(directory)
        let (checkpoint, edge): (LogCheckpoint, TreeEdge)
        if let note = try directory.checkpoint() {
            checkpoint = try LogCheckpoint(newest: note, signedBy: key.verifierKey)
            edge = try TreeEdge(of: checkpoint, in: directory)
        } else {
            edge = TreeEdge()
            checkpoint = LogCheckpoint(origin: key.verifierKey.name, size: 0, root: edge.tree.root)
            try Self.publish(checkpoint, signedBy: key, in: directory)
        }
        (self.directory, self.key, self.lock, self.checkpoint, self.edge) = (directory, key, lock, checkpoint, edge)
    }

    /// Appends entries, and publishes a checkpoint with them. Does nothing without entries.
    /// - Parameters:
    ///   - index: the index of the first one, which is the size of the tree. The caller says it, so that no entry is appended twice.
    /// - Returns: the newest checkpoint
    /// - Throws: ``TreeError``. Then the tree is as before, and the caller may append the same entries again.
    @discardableResult
    public mutating func append(_ entries: [[UInt8]], at index: Int64) throws(TreeError) -> LogCheckpoint {
        guard index == edge.tree.size else { throw .notNext(expected: edge.tree.size, found: index) }
        guard !entries.isEmpty else { return checkpoint }
        if let long = entries.firstIndex(where: { $0.count > EntryBundle.maximumEntryBytes }) {
            throw .entryTooLong(index: index + Int64(long), bytes: entries[long].count)
        }
        var (next, completed) = (edge, [Tile.Content: Tile]())
        var batch = try TileBatch(directory)
        for entry in entries {
            next.append(entry)
            while let (tile, bytes) = next.takeFullTile() {
                try batch.write(bytes, to: .tile(tile))
                // Only the first of a level may have had partial tiles.
                if completed[tile.content] == nil { completed[tile.content] = tile }
            }
        }
        try batch.finish()
        for tile in completed.values { try directory.removePartialTiles(of: tile) }
        for (tile, bytes) in next.partialTiles(notIn: edge.tree.size) { try batch.write(bytes, to: .tile(tile)) }
        try batch.finish()
        let checkpoint = LogCheckpoint(origin: key.verifierKey.name, size: next.tree.size, root: next.tree.root)
        try Self.publish(checkpoint, signedBy: key, in: directory)
        (edge, self.checkpoint) = (next, checkpoint)
        return checkpoint
    }

    private static func publish(
        _ checkpoint: LogCheckpoint, signedBy key: SigningKey, in directory: TileDirectory
    ) throws(TreeError) {
        var batch = try TileBatch(directory)
        try batch.write(checkpoint.signed(by: key).bytes, to: .checkpoint)
        try batch.finish()
    }
}

/// The right of one writer, which ends with the process at the latest.
final class DirectoryLock: Sendable {
    private let descriptor: Int32

    init(_ directory: TileDirectory) throws(TreeError) {
        guard let descriptor = try directory.openFolder([]) else { throw .inUse(path: directory.path) }
        // Also closed if this throws.
        self.descriptor = descriptor
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else { throw .inUse(path: directory.path) }
    }

    deinit { close(descriptor) }
}

extension LogCheckpoint {
    /// The newest checkpoint of a directory.
    init(newest note: SignedNote, signedBy key: VerifierKey) throws(TreeError) {
        do throws(ProofError) { try self.init(note, signedBy: key) } catch { throw .checkpoint(error) }
    }
}

internal import Foundation
internal import Hashing

/// The files of a published tree in one directory: tiles, entry bundles and the newest checkpoint (C2SP `tlog-tiles`).
///
/// Files are read by a ``TreeResource``, so nothing outside of the directory can be named, and links inside are never followed. Any number
/// of tasks and processes may read while one ``TreeWriter`` writes.
public final class TileDirectory: Sendable {
    private static let flags = O_RDONLY | O_DIRECTORY | O_CLOEXEC

    public let path: String
    private let descriptor: Int32
    /// Called before each change of a file.
    private let interruptions: Interruptions?

    /// Opens the directory, and makes it, for its owner only, if it is missing. Its parent must exist. The path itself may be a link.
    /// - Throws: ``TreeError/fileSystem(doing:path:reason:)``
    public convenience init(path: String) throws(TreeError) { try self.init(path: path, interruptions: nil) }

    init(path: String, interruptions: Interruptions?) throws(TreeError) {
        (self.path, self.interruptions) = (path, interruptions)
        var opened = SystemCalls.open(path, Self.flags)
        if opened < 0, errno == ENOENT, SystemCalls.makeDirectory(path, mode: 0o700) == 0 || errno == EEXIST {
            opened = SystemCalls.open(path, Self.flags)
        }
        descriptor = opened
        guard descriptor >= 0 else { throw .fileSystem(doing: "open the directory", path: path) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Reads a file, for a monitor that asks for it.
    /// - Returns: `nil` if the file does not exist
    /// - Throws: ``TreeError/fileSystem(doing:path:reason:)``, and ``TreeError/malformed(path:reason:)`` for a file that is too long
    public func bytes(of resource: TreeResource) throws(TreeError) -> [UInt8]? {
        var names = resource.path.split(separator: "/").map { String($0) }
        let name = names.removeLast()
        guard let folder = try openFolder(names) else { return nil }
        defer { close(folder) }
        // Without O_NONBLOCK a named pipe would be waited for.
        let file = SystemCalls.open(name, in: folder, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read", resource.path)
        }
        defer { close(file) }
        guard let status = SystemCalls.status(of: file) else { throw failure("read", resource.path) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .malformed(path: resource.path, reason: "it is no ordinary file")
        }
        guard status.st_size <= resource.maximumBytes else {
            throw .malformed(path: resource.path, reason: "it has more than \(resource.maximumBytes) bytes")
        }
        guard let bytes = SystemCalls.read(file, count: Int(status.st_size)) else { throw failure("read", resource.path) }
        return bytes
    }

    /// The newest checkpoint, unverified; `nil` before the first.
    /// - Throws: ``TreeError``
    public func checkpoint() throws(TreeError) -> SignedNote? {
        guard let bytes = try bytes(of: .checkpoint) else { return nil }
        do throws(ProofError) { return try SignedNote(bytes) } catch { throw .checkpoint(error) }
    }

    /// The hashes of a tile. A wider tile begins with the same hashes, so the full one stands in for a partial one that is gone.
    func hashes(of tile: Tile) throws(TreeError) -> [SHA256.Digest] {
        let bytes = try existingBytes(of: tile)
        guard bytes.count == tile.width * SHA256.Digest.byteCount || bytes.count == Tile.fullWidth * SHA256.Digest.byteCount
        else {
            throw .malformed(path: tile.path, reason: "it has \(bytes.count) bytes")
        }
        return (0..<tile.width).compactMap {
            SHA256.Digest(bytes[$0 * SHA256.Digest.byteCount..<($0 + 1) * SHA256.Digest.byteCount])
        }
    }

    /// The entries of a bundle.
    /// - Returns: its bytes, and the range of each entry in them
    func entries(of tile: Tile) throws(TreeError) -> (bytes: [UInt8], ranges: [Range<Int>]) {
        let bytes = try existingBytes(of: tile)
        guard let ranges = EntryBundle.ranges(in: bytes, count: tile.width) else {
            throw .malformed(path: tile.path, reason: "it has fewer than \(tile.width) entries")
        }
        return (bytes, ranges)
    }

    private func existingBytes(of tile: Tile) throws(TreeError) -> [UInt8] {
        if let bytes = try bytes(of: .tile(tile)) { return bytes }
        guard !tile.isFull, let bytes = try bytes(of: .tile(tile.full)) else { throw .missing(path: tile.path) }
        return bytes
    }

    /// Opens a folder below the directory.
    /// - Parameter made: called with the number of names before each folder that this call makes; `nil` to make none
    /// - Returns: a descriptor that the caller closes; `nil` if the folder does not exist
    func openFolder(_ names: [String], made: ((_ depth: Int) -> Void)? = nil) throws(TreeError) -> Int32? {
        var folder = SystemCalls.open(".", in: descriptor, Self.flags)
        for (depth, name) in names.enumerated() where folder >= 0 {
            let parent = folder
            defer { close(parent) }
            var next = SystemCalls.open(name, in: parent, Self.flags | O_NOFOLLOW)
            if next < 0, errno == ENOENT {
                guard let made else { return nil }
                if SystemCalls.makeDirectory(name, in: parent, mode: 0o700) == 0 { made(depth) }
                next = SystemCalls.open(name, in: parent, Self.flags | O_NOFOLLOW)
            }
            if next < 0 { throw failure("open the folder", names.joined(separator: "/")) }
            folder = next
        }
        guard folder >= 0 else { throw failure("open the folder", names.joined(separator: "/")) }
        return folder
    }

    /// Must be called before each change of a file, so that tests can end a writer there.
    func willChange() throws(TreeError) { try interruptions?.willChange() }

    func failure(_ doing: String, _ name: String) -> TreeError { .fileSystem(doing: doing, path: "\(path)/\(name)") }
}

/// Ends a writer before one of its changes, as a kill does.
struct Interruptions: Sendable {
    let willChange: @Sendable () throws(TreeError) -> Void
}

extension TreeError {
    /// Takes the reason from `errno`.
    static func fileSystem(doing: String, path: String) -> TreeError {
        .fileSystem(doing: doing, path: path, reason: SystemCalls.reason)
    }
}

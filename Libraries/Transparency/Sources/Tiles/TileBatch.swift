internal import Foundation

/// Files on their way into a directory. Each appears complete or not at all, also after a loss of power: it is written under a
/// temporary name, synchronised with the disk and renamed.
///
/// Many files are synchronised behind each other, which the file system does in one step.
struct TileBatch: ~Copyable {
    private struct File {
        var descriptor: Int32
        var temporary: String
        var folder: [String]
        var name: String
    }

    /// No resource has a path in this folder, so nobody is served an unfinished file.
    private static let unfinished = "unfinished"
    /// The most open files.
    private static let limit = 64

    private let directory: TileDirectory
    private let unfinished: Int32
    private var files: [File] = []
    /// The folders with new names.
    private var changed: Set<[String]> = []

    init(_ directory: TileDirectory) throws(TreeError) {
        self.directory = directory
        guard let folder = try directory.openFolder([Self.unfinished], made: { _ in }) else {
            throw directory.failure("open the folder", Self.unfinished)
        }
        unfinished = folder
    }

    deinit {
        for file in files { close(file.descriptor) }
        close(unfinished)
    }

    mutating func write(_ bytes: [UInt8], to resource: TreeResource) throws(TreeError) {
        var folder = resource.path.split(separator: "/").map { String($0) }
        let name = folder.removeLast()
        try directory.willChange()
        // The same few names each time, because a kill may leave such files.
        let temporary = String(files.count)
        SystemCalls.remove(temporary, in: unfinished)
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let descriptor = SystemCalls.open(temporary, in: unfinished, flags, mode: 0o600)
        guard descriptor >= 0 else { throw directory.failure("write", resource.path) }
        files.append(File(descriptor: descriptor, temporary: temporary, folder: folder, name: name))
        guard SystemCalls.write(bytes, to: descriptor) else { throw directory.failure("write", resource.path) }
        if files.count == Self.limit { try install() }
    }

    /// Returns when all files have their names and are on the disk.
    mutating func finish() throws(TreeError) {
        try install()
        for names in changed {
            try directory.willChange()
            guard let folder = try directory.openFolder(names) else { continue }
            defer { close(folder) }
            guard fsync(folder) == 0 else { throw directory.failure("synchronise", names.joined(separator: "/")) }
        }
        changed = []
    }

    private mutating func install() throws(TreeError) {
        for file in files {
            try directory.willChange()
            guard fsync(file.descriptor) == 0 else { throw directory.failure("synchronise", file.name) }
        }
        while let file = files.last {
            var made: [Int] = []
            guard let folder = try directory.openFolder(file.folder, made: { made.append($0) }) else {
                throw directory.failure("open the folder", file.folder.joined(separator: "/"))
            }
            defer { close(folder) }
            try directory.willChange()
            guard SystemCalls.rename(file.temporary, in: unfinished, to: file.name, in: folder) == 0 else {
                throw directory.failure("rename to", (file.folder + [file.name]).joined(separator: "/"))
            }
            for depth in made { changed.insert(Array(file.folder.prefix(depth))) }
            changed.insert(file.folder)
            close(file.descriptor)
            files.removeLast()
        }
    }
}

extension TileDirectory {
    /// Removes all partial tiles of a place, whose full one is there.
    func removePartialTiles(of tile: Tile) throws(TreeError) {
        var names = tile.partialFolder.split(separator: "/").map { String($0) }
        guard let folder = try openFolder(names) else { return }
        defer { close(folder) }
        for width in 1..<Tile.fullWidth {
            try willChange()
            SystemCalls.remove(String(width), in: folder)
        }
        let name = names.removeLast()
        guard let parent = try openFolder(names) else { return }
        defer { close(parent) }
        SystemCalls.remove(name, in: parent, AT_REMOVEDIR)
    }
}

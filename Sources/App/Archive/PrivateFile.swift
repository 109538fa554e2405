internal import Foundation

/// A file for its owner's monitoring that appears whole or not at all: it is written under another name beside its own.
struct PrivateFile {
    enum Failure: Error, CustomStringConvertible {
        case exists(path: String)
        case notWritable(path: String, reason: String)

        var description: String {
            switch self {
            case .exists(let path): "\(path) is there already; --force overwrites it."
            case .notWritable(let path, let reason): "Cannot write \(path): \(reason)"
            }
        }
    }

    /// - Parameter isOverwriting: whether a file of that name may be replaced
    static func write<Value>(
        at path: String, isOverwriting: Bool, _ body: (FileHandle) async throws -> Value
    ) async throws -> Value {
        guard isOverwriting || !FileManager.default.fileExists(atPath: path) else { throw Failure.exists(path: path) }
        // In a container every process may have the same number, and one that was killed leaves its file behind.
        let temporary = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure.notWritable(path: path, reason: String(cString: strerror(errno))) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            let value = try await body(file)
            guard fsync(descriptor) == 0 else { throw Failure.notWritable(path: path, reason: String(cString: strerror(errno))) }
            try install(temporary, as: path, isOverwriting: isOverwriting)
            synchroniseDirectory(of: path)
            return value
        } catch {
            unlink(temporary)
            throw error
        }
    }

    /// A link, unlike a renaming, does not overwrite what has appeared meanwhile.
    private static func install(_ temporary: String, as path: String, isOverwriting: Bool) throws {
        guard (isOverwriting ? rename(temporary, path) : link(temporary, path)) == 0 else {
            if errno == EEXIST { throw Failure.exists(path: path) }
            throw Failure.notWritable(path: path, reason: String(cString: strerror(errno)))
        }
        if !isOverwriting { unlink(temporary) }
    }

    /// Brings the name to the disk. The file is whole there already, so that a file system that refuses this is no failure.
    private static func synchroniseDirectory(of path: String) {
        let directory = open(URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }
}

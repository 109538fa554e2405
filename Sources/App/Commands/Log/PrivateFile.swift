internal import Foundation

/// A file that only its owner may read, and that appears complete or not at all: it is written under a temporary name.
struct PrivateFile {
    /// Calls a closure with a temporary file, and gives the file its name when the closure returns.
    /// - Parameter isOverwriting: whether the file may replace another of its name
    /// - Throws: ``CommandFailure``, and the error of the closure. After an error no new file exists.
    static func write<Value>(
        at path: String, isOverwriting: Bool, _ body: (FileHandle) async throws -> Value
    ) async throws -> Value {
        guard isOverwriting || !FileManager.default.fileExists(atPath: path) else { throw alreadyThere(path) }
        // Random, because processes in containers may share a process id, and a killed process leaves its file.
        let temporary = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw notWritable(path) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            let value = try await body(file)
            guard fsync(descriptor) == 0 else { throw notWritable(path) }
            try install(temporary, as: path, isOverwriting: isOverwriting)
            synchroniseDirectory(of: path)
            return value
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
    }

    /// Without overwriting it makes a link, which fails if a file of that name has appeared.
    private static func install(_ temporary: String, as path: String, isOverwriting: Bool) throws {
        guard unsafe (isOverwriting ? rename(temporary, path) : link(temporary, path)) == 0 else {
            if errno == EEXIST { throw alreadyThere(path) }
            throw notWritable(path)
        }
        if !isOverwriting { _ = unsafe unlink(temporary) }
    }

    /// Writes the name to the disk. The content is there already, so that errors of this step are ignored.
    private static func synchroniseDirectory(of path: String) {
        let directory = unsafe open(
            URL(fileURLWithPath: path).deletingLastPathComponent().path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard directory >= 0 else { return }
        fsync(directory)
        close(directory)
    }

    private static func alreadyThere(_ path: String) -> CommandFailure {
        CommandFailure("\(path) is there already; --force overwrites it.")
    }

    private static func notWritable(_ path: String) -> CommandFailure {
        let reason = unsafe String(cString: strerror(errno))
        return CommandFailure("Cannot write \(path): \(reason)")
    }
}

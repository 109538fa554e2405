internal import Foundation

/// A file that only its owner may read, and that appears complete or not at all: it is written under a temporary name.
struct PrivateFile {
    /// Calls a closure with a temporary file, and gives the file its name when the closure returns.
    /// - Parameter isOverwriting: whether the file may replace an ordinary one of its name
    /// - Throws: ``CommandFailure``, and the error of the closure. After an error no new file exists.
    static func write<Value>(
        at path: String, isOverwriting: Bool, _ body: (FileHandle) async throws -> Value
    ) async throws -> Value {
        try requireFree(path, isOverwriting: isOverwriting)
        // Random, because processes in containers may share a process id, and a killed process leaves its file.
        let temporary = "\(path).\(String(UInt64.random(in: 0...UInt64.max), radix: 36)).part"
        let descriptor = unsafe open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw notWritable(path) }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        do {
            let value = try await body(file)
            guard fsync(descriptor) == 0 else { throw notWritable(path) }
            try requireFree(path, isOverwriting: isOverwriting)
            try install(temporary, as: path, isOverwriting: isOverwriting)
            synchroniseDirectory(of: path)
            return value
        } catch {
            _ = unsafe unlink(temporary)
            throw error
        }
    }

    /// A rename would put an ordinary file in the place of a link, a device or a pipe.
    private static func requireFree(_ path: String, isOverwriting: Bool) throws {
        guard !path.isEmpty else { throw CommandFailure("The name of the file is empty.") }
        switch try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType {
        case nil: return
        case .typeRegular?: guard isOverwriting else { throw alreadyThere(path) }
        case .typeSymbolicLink?: throw CommandFailure("\(path) is a link: name the file that it leads to.")
        case _?: throw CommandFailure("\(path) is no ordinary file: name another file, or - for standard output.")
        }
    }

    /// Without overwriting, an empty file takes the name first, which fails if another has appeared. A hard link would do both in one
    /// step, but FAT and many network shares have none.
    private static func install(_ temporary: String, as path: String, isOverwriting: Bool) throws {
        if !isOverwriting {
            let descriptor = unsafe open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
            guard descriptor >= 0 else { throw errno == EEXIST ? alreadyThere(path) : notWritable(path) }
            close(descriptor)
        }
        guard unsafe rename(temporary, path) == 0 else {
            let failure = notWritable(path)
            if !isOverwriting { _ = unsafe unlink(path) }
            throw failure
        }
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

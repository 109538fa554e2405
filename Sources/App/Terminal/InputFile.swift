internal import Foundation
internal import SystemPackage

/// A file that a command reads, or standard input for `-`.
enum InputFile {
    /// - Throws: ``CommandFailure``
    static func open(_ path: String) throws(CommandFailure) -> FileHandle {
        guard path != "-" else { return .standardInput }
        do {
            let opened = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            return FileHandle(fileDescriptor: opened.rawValue, closeOnDealloc: true)
        } catch {
            throw CommandFailure("Cannot read \(path): \((error as? Errno)?.description ?? "\(error)")")
        }
    }

    /// Reads a small file.
    /// - Parameter limit: at most one byte more is read, for an error of the caller
    /// - Throws: ``CommandFailure``
    static func read(_ path: String, limit: Int) throws(CommandFailure) -> [UInt8] {
        let file = try open(path)
        do { return try Array(file.read(upToCount: limit + 1) ?? Data()) } catch {
            throw CommandFailure("Cannot read \(path): \(error)")
        }
    }
}

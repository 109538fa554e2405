internal import Foundation
internal import SystemPackage

/// A file that a command reads, or standard input for `-`.
enum InputFile {
    /// - Throws: ``InputFileUnreadable``
    static func open(_ path: String) throws(InputFileUnreadable) -> FileHandle {
        guard path != "-" else { return .standardInput }
        do {
            let opened = try FileDescriptor.open(FilePath(path), .readOnly, options: .closeOnExec)
            return FileHandle(fileDescriptor: opened.rawValue, closeOnDealloc: true)
        } catch {
            throw InputFileUnreadable(path: path, reason: (error as? Errno)?.description ?? "\(error)")
        }
    }

    /// Reads a small file.
    /// - Parameter limit: at most one byte more is read, for an error of the caller
    /// - Throws: ``InputFileUnreadable``
    static func read(_ path: String, limit: Int) throws(InputFileUnreadable) -> [UInt8] {
        let file = try open(path)
        do { return try Array(file.read(upToCount: limit + 1) ?? Data()) } catch {
            throw InputFileUnreadable(path: path, reason: "\(error)")
        }
    }
}

struct InputFileUnreadable: Error, CustomStringConvertible {
    var path: String
    var reason: String
    var description: String { "Cannot read \(path): \(reason)" }
}

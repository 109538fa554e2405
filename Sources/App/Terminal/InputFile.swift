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
}

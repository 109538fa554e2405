internal import Foundation
internal import SystemPackage

/// A lock on a file that ends with the process that holds it, however that ends. A program that the holder starts has no part in it.
///
/// The file has the number of its holder, which another start names.
final class DirectoryLock: Sendable {
    /// Attempts of a start, 1 ms apart: ``isHeld(_:)`` takes the lock for a moment.
    private static let attempts = 20
    /// Attempts until a new holder has written its number, on a busy machine.
    private static let attemptsForNumber = 2_000

    private let file: FileDescriptor

    private init(_ file: FileDescriptor) { self.file = file }

    /// A start that failed lets go as well.
    deinit { try? file.close() }

    /// - Throws: ``EmbeddedPostgresError/inUse(directory:byProcess:)``, and ``EmbeddedPostgresError/fileSystem(doing:path:reason:)``
    static func take(_ path: String, in directory: String) throws(EmbeddedPostgresError) -> DirectoryLock {
        let lock: DirectoryLock
        do {
            let file = try FileDescriptor.open(
                FilePath(path), .readWrite, options: [.create, .noFollow, .closeOnExec],
                permissions: [.ownerReadWrite, .groupRead, .otherRead])
            lock = DirectoryLock(file)
        } catch {
            throw .fileSystem(doing: "open", path: path, reason: "\(error)")
        }
        var attempt = 1
        while true {
            if flock(lock.file.rawValue, LOCK_EX | LOCK_NB) == 0 {
                try? lock.file.resize(to: 0)
                _ = try? lock.file.writeAll("\(getpid())".utf8)
                return lock
            }
            let holder = (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int32($0) }
            guard attempt < attempts || holder == nil && attempt < attemptsForNumber else {
                throw .inUse(directory: directory, byProcess: holder)
            }
            attempt += 1
            Thread.sleep(forTimeInterval: 0.001)
        }
    }

    /// Also ends it for a program that is just being started and still has the descriptor.
    func release() { _ = flock(file.rawValue, LOCK_UN) }

    /// Whether this process or another one holds the lock.
    static func isHeld(_ path: String) -> Bool {
        let file = try? FileDescriptor.open(FilePath(path), .readWrite, options: [.noFollow, .closeOnExec])
        guard let file else { return false }
        defer { try? file.close() }
        return flock(file.rawValue, LOCK_SH | LOCK_NB) != 0
    }
}

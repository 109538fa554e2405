internal import Foundation
internal import Synchronization

/// A lock on a file that ends with the process that holds it, however that ends.
///
/// It is a record lock of POSIX: the system names its holder, and a program that the holder starts has no part in it. Such a lock
/// belongs to the whole process, and closing any descriptor of the file ends it. So a process opens the file of its own lock only once.
final class DirectoryLock: Sendable {
    /// The locks of this process.
    private static let own = Mutex<[String: Int32]>([:])

    private let path: String
    private let isReleased = Mutex(false)

    private init(_ path: String) { self.path = path }

    /// A start that failed lets go as well.
    deinit { release() }

    /// - Throws: ``EmbeddedPostgresError/inUse(directory:byProcess:)``, and ``EmbeddedPostgresError/fileSystem(doing:path:reason:)``
    static func take(_ path: String, in directory: String) throws(EmbeddedPostgresError) -> DirectoryLock {
        try own.withLock { own throws(EmbeddedPostgresError) in
            guard own[path] == nil else { throw .inUse(directory: directory, byProcess: getpid()) }
            let descriptor = SystemCalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode: 0o644)
            guard descriptor >= 0 else { throw .fileSystem(doing: "open", path: path, reason: SystemCalls.reason) }
            guard SystemCalls.lock(descriptor) else {
                defer { close(descriptor) }
                throw .inUse(directory: directory, byProcess: SystemCalls.holder(of: descriptor))
            }
            own[path] = descriptor
        }
        return DirectoryLock(path)
    }

    func release() {
        // A later lock of the same path is another one.
        let wasReleased = isReleased.withLock { isReleased in
            defer { isReleased = true }
            return isReleased
        }
        guard !wasReleased else { return }
        Self.own.withLock { own in if let descriptor = own.removeValue(forKey: path) { close(descriptor) } }
    }

    /// Whether this process or another one holds the lock.
    static func isHeld(_ path: String) -> Bool {
        own.withLock { own in
            if own[path] != nil { return true }
            let descriptor = SystemCalls.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else { return false }
            defer { close(descriptor) }
            return SystemCalls.holder(of: descriptor) != nil
        }
    }
}

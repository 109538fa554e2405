internal import Foundation
internal import Synchronization

/// A lock that ends with the process that holds it, however that ends. The file names the process.
final class DirectoryLock: Sendable {
    private let descriptor: Mutex<Int32?>

    init(path: String, directory: String) throws(EmbeddedPostgresError) {
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else {
            throw .fileSystem(doing: "open", path: path, reason: String(cString: strerror(errno)))
        }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            close(descriptor)
            throw .inUse(directory: directory, byProcess: Self.holder(path: path))
        }
        ftruncate(descriptor, 0)
        let text = "\(getpid())\n"
        _ = text.withCString { write(descriptor, $0, strlen($0)) }
        self.descriptor = Mutex(descriptor)
    }

    /// A start that failed lets go as well.
    deinit { release() }

    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { Self.unlock(descriptor) }
            descriptor = nil
        }
    }

    static func isHeld(path: String) -> Bool {
        let descriptor = open(path, O_RDWR | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { unlock(descriptor) }
        return flock(descriptor, LOCK_EX | LOCK_NB) != 0
    }

    /// To close is not enough: a program that this process is just starting has the descriptor too, until its exec.
    private static func unlock(_ descriptor: Int32) {
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }

    private static func holder(path: String) -> Int32? {
        (try? String(contentsOfFile: path, encoding: .utf8)).flatMap { Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
}

internal import Foundation
internal import Synchronization

/// A lock that ends with the process that holds it, however that ends. The file names the process.
///
/// A process that takes or probes the lock holds the ``Gate`` meanwhile. So the file names the present holder whenever another
/// process looks at it, and a probe never makes a start fail.
final class DirectoryLock: Sendable {
    /// Far longer than the way from a fork to its exec.
    private static let execSeconds = 2.0

    private let descriptor: Mutex<Int32?>

    private init(descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    /// A start that failed lets go as well.
    deinit { release() }

    /// - Throws: ``EmbeddedPostgresError/inUse(directory:byProcess:)``, and ``EmbeddedPostgresError/fileSystem(doing:path:reason:)``
    static func take(_ path: String, in directory: String) async throws -> DirectoryLock {
        let gate = await Gate(directory)
        defer { gate.open() }
        // Every account may read the file: the number of a process is no secret.
        let descriptor = SystemCalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode: 0o644)
        guard descriptor >= 0 else { throw EmbeddedPostgresError.fileSystem(doing: "open", path: path) }
        guard await isTaken(descriptor) else {
            defer { close(descriptor) }
            throw EmbeddedPostgresError.inUse(directory: directory, byProcess: holder(descriptor))
        }
        let text = Array("\(getpid())\n".utf8)
        // On a full disk an earlier process's number can still be overwritten. No start fails for want of it.
        if SystemCalls.write(text, to: descriptor) { ftruncate(descriptor, off_t(text.count)) }
        return DirectoryLock(descriptor: descriptor)
    }

    func release() {
        descriptor.withLock { descriptor in
            if let descriptor { unlock(descriptor) }
            descriptor = nil
        }
    }

    static func isHeld(_ path: String, in directory: String) async -> Bool {
        let gate = await Gate(directory)
        defer { gate.open() }
        let descriptor = SystemCalls.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { unlock(descriptor) }
        return await !isTaken(descriptor)
    }

    /// Takes the lock of an open file, if no other process holds it.
    ///
    /// A program that the holder was starting when it was killed holds the lock until its exec. Then the file names a process that is
    /// gone, and the lock is tried again for ``execSeconds``.
    private static func isTaken(_ descriptor: Int32) async -> Bool {
        let deadline = ContinuousClock.now + .seconds(execSeconds)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0 {
            guard let process = holder(descriptor), kill(process, 0) != 0, errno == ESRCH, ContinuousClock.now < deadline,
                (try? await Task.sleep(for: .milliseconds(5))) != nil
            else { return false }
        }
        return true
    }

    private static func holder(_ descriptor: Int32) -> Int32? {
        guard let bytes = SystemCalls.read(descriptor, at: 0, count: 32) else { return nil }
        return Int32(String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines))
    }
}

/// A lock on the directory itself, held for the moment in which the lock file is looked at and written.
final class Gate {
    /// Only a process that was stopped holds the gate for longer. Then the lock alone decides, which is right but may not name the
    /// process.
    private static let waitSeconds = 5.0
    private static let pauseSeconds = 0.002

    private let descriptor: Int32

    init(_ directory: String) async {
        descriptor = SystemCalls.open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        let deadline = ContinuousClock.now + .seconds(Self.waitSeconds)
        while flock(descriptor, LOCK_EX | LOCK_NB) != 0, errno == EWOULDBLOCK, ContinuousClock.now < deadline {
            guard (try? await Task.sleep(for: .seconds(Self.pauseSeconds))) != nil else { return }
        }
    }

    func open() { if descriptor >= 0 { unlock(descriptor) } }
}

/// Closing is not enough: a program that this process just starts has the descriptor too, until its exec.
private func unlock(_ descriptor: Int32) {
    flock(descriptor, LOCK_UN)
    close(descriptor)
}

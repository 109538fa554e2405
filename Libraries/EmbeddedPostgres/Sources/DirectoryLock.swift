internal import Foundation
internal import Synchronization

/// A lock that ends with the process that holds it, however that ends. The file names the process.
///
/// A process that takes or probes the lock holds the ``Gate`` meanwhile. So the file names the present holder whenever another
/// process looks at it, and a probe never makes a start fail.
final class DirectoryLock: Sendable {
    /// Far longer than the way from a fork to its exec.
    private static let execSeconds = 1.0

    private let descriptor: Mutex<Int32?>

    private init(descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    /// A start that failed lets go as well.
    deinit { release() }

    /// - Throws: ``EmbeddedPostgresError/inUse(directory:byProcess:)``, and ``EmbeddedPostgresError/fileSystem(doing:path:reason:)``
    static func take(_ path: String, in directory: String) async throws -> DirectoryLock {
        try await untilHolderIsThere { try await attempt(path, in: directory) }
    }

    private static func attempt(_ path: String, in directory: String) async throws -> DirectoryLock {
        let gate = await Gate(directory)
        defer { gate.open() }
        // Every account may read the file: the number of a process is no secret.
        let descriptor = SystemCalls.open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, mode: 0o644)
        guard descriptor >= 0 else { throw EmbeddedPostgresError.fileSystem(doing: "open", path: path) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
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
        // A probe throws nothing else.
        (try? await untilHolderIsThere { try await probe(path, in: directory) }) == nil
    }

    /// - Throws: ``EmbeddedPostgresError/inUse(directory:byProcess:)``
    private static func probe(_ path: String, in directory: String) async throws {
        let gate = await Gate(directory)
        defer { gate.open() }
        let descriptor = SystemCalls.open(path, O_RDWR | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else { return }
        defer { unlock(descriptor) }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            throw EmbeddedPostgresError.inUse(directory: directory, byProcess: holder(descriptor))
        }
    }

    /// Repeats an attempt while the file names a process that is gone, for ``execSeconds``: a program that the process was starting when it
    /// was killed holds the lock until its exec. The gate is open between the attempts.
    private static func untilHolderIsThere<Value>(_ attempt: () async throws -> Value) async throws -> Value {
        let deadline = ContinuousClock.now + .seconds(execSeconds)
        while true {
            do { return try await attempt() } catch let error as EmbeddedPostgresError {
                guard case .inUse(_, let process?) = error, isGone(process), ContinuousClock.now < deadline,
                    (try? await Task.sleep(for: .milliseconds(10))) != nil
                else { throw error }
            }
        }
    }

    /// Whether a process has ended, even if its parent has not asked for its status yet.
    private static func isGone(_ process: Int32) -> Bool {
        if kill(process, 0) != 0 { return errno == ESRCH }
        let file = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
        // The state stands behind the program's name in parentheses.
        return file?.split(separator: ")").last?.hasPrefix(" Z") == true
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

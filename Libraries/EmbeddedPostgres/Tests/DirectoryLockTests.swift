import Foundation
import Synchronization
import TestDatabase
import Testing

@testable import EmbeddedPostgres

@Suite struct `The lock of a cluster directory` {
    private static func withDirectory(_ body: (_ directory: String, _ lock: String) async throws -> Void) async throws {
        try await withClusterDirectory { directory in
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            try await body(directory, "\(directory)/lock")
        }
    }

    private static func result<Value>(_ body: () async throws -> Value) async -> Result<Value, any Error> {
        do { return .success(try await body()) } catch { return .failure(error) }
    }

    @Test func `a second start gets the process id of the lock's owner, even before the owner has written it`() async throws {
        try await Self.withDirectory { directory, path in
            try "1\n".write(toFile: path, atomically: false, encoding: .utf8)
            // The state of another start between taking the lock and writing its process id.
            let gate = await Gate(directory)
            let other = open(path, O_RDWR | O_CLOEXEC)
            defer { close(other) }
            try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
            let second = Task { try await DirectoryLock.take(path, in: directory) }
            for _ in 0..<1_000 { await Task.yield() }
            try "4711\n".write(toFile: path, atomically: false, encoding: .utf8)
            gate.open()
            let error = await #expect(throws: EmbeddedPostgresError.self) { try await second.value }
            #expect(error == .inUse(directory: directory, byProcess: 4_711))
        }
    }

    /// A killed process leaves the lock for a moment to a program that it was starting, until that program's exec.
    @Test func `a start waits for the lock of a process that is gone`() async throws {
        try await Self.withDirectory { directory, path in
            // No process has this number.
            try "\(Int32.max)\n".write(toFile: path, atomically: false, encoding: .utf8)
            let other = open(path, O_RDWR | O_CLOEXEC)
            try #require(flock(other, LOCK_EX | LOCK_NB) == 0)
            let exec = Task {
                try await Task.sleep(for: .milliseconds(200))
                close(other)
            }
            let lock = try await DirectoryLock.take(path, in: directory)
            try await exec.value
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "\(getpid())\n")
            lock.release()
        }
    }

    @Test func `one of many concurrent starts gets the lock, and the others get the owner's process id`() async throws {
        try await Self.withDirectory { directory, path in
            for _ in 0..<20 {
                let results = await withTaskGroup(of: Result<DirectoryLock, any Error>.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            await Self.result { try await DirectoryLock.take(path, in: directory) }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let errors = results.compactMap { result -> EmbeddedPostgresError? in
                    if case .failure(let error) = result { error as? EmbeddedPostgresError } else { nil }
                }
                #expect(errors == Array(repeating: .inUse(directory: directory, byProcess: getpid()), count: 3))
                for case .success(let lock) in results { lock.release() }
                try FileManager.default.removeItem(atPath: path)
            }
        }
    }

    @Test func `a start succeeds while other processes ask whether the lock is held`() async throws {
        try await Self.withDirectory { directory, path in
            let asked = Mutex(0)
            let asking = Task {
                while !Task.isCancelled {
                    _ = await DirectoryLock.isHeld(path, in: directory)
                    asked.withLock { $0 += 1 }
                    await Task.yield()
                }
            }
            defer { asking.cancel() }
            try await eventually("a first probe") { asked.withLock(\.self) > 0 }
            for _ in 0..<200 {
                let lock = try await DirectoryLock.take(path, in: directory)
                lock.release()
            }
        }
    }

    @Test func `a lock file that is a symbolic link is refused`() async throws {
        try await Self.withDirectory { directory, path in
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(directory)/other")
            await #expect(throws: EmbeddedPostgresError.self) { _ = try await DirectoryLock.take(path, in: directory) }
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/other"))
        }
    }
}

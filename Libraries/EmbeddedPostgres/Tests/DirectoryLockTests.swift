import Foundation
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

    @Test func `one of many concurrent starts gets the lock, and the others get the owner's process id`() async throws {
        try await Self.withDirectory { directory, path in
            for _ in 0..<20 {
                let results = await withTaskGroup(of: Result<DirectoryLock, EmbeddedPostgresError>.self) { group in
                    for _ in 0..<4 {
                        group.addTask {
                            Result { () throws(EmbeddedPostgresError) in try DirectoryLock.take(path, in: directory) }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let errors = results.compactMap { if case .failure(let error) = $0 { error } else { nil } }
                #expect(errors == Array(repeating: .inUse(directory: directory, byProcess: getpid()), count: 3))
                for case .success(let lock) in results { lock.release() }
            }
        }
    }

    @Test func `the process id is that of another process that holds the lock, until it ends`() async throws {
        try await Self.withDirectory { directory, path in
            let other = Process()
            other.executableURL = URL(fileURLWithPath: "/usr/bin/env")
            let script = """
                import fcntl, os, time
                file = open('\(path)', 'w', buffering=1)
                fcntl.flock(file, fcntl.LOCK_EX)
                print(os.getpid(), end='', file=file, flush=True)
                time.sleep(600)
                """
            other.arguments = ["python3", "-c", script]
            try other.run()
            defer { kill(other.processIdentifier, SIGKILL) }
            try await eventually("the lock") { DirectoryLock.isHeld(path) }
            #expect(throws: EmbeddedPostgresError.inUse(directory: directory, byProcess: other.processIdentifier)) {
                try DirectoryLock.take(path, in: directory)
            }
            kill(other.processIdentifier, SIGKILL)
            try await eventually("the end of the lock") { !DirectoryLock.isHeld(path) }
            let lock = try DirectoryLock.take(path, in: directory)
            // Neither asking nor a start in vain ends the lock.
            #expect(DirectoryLock.isHeld(path))
            #expect(throws: EmbeddedPostgresError.self) { try DirectoryLock.take(path, in: directory) }
            #expect(DirectoryLock.isHeld(path))
            lock.release()
            #expect(!DirectoryLock.isHeld(path))
        }
    }

    @Test func `a lock file that is a symbolic link is refused`() async throws {
        try await Self.withDirectory { directory, path in
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "\(directory)/other")
            #expect(throws: EmbeddedPostgresError.self) { try DirectoryLock.take(path, in: directory) }
            #expect(!FileManager.default.fileExists(atPath: "\(directory)/other"))
        }
    }
}

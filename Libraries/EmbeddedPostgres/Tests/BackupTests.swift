import EmbeddedPostgres
import Foundation
import Postgres
import TestDatabase
import Testing

@Suite struct `A backup of a private PostgreSQL` {
    /// Passes the path of a backup, that of its cluster's directory, and that of a directory that does not exist yet.
    private static func withBackup(
        _ body: (_ backup: String, _ directory: String, _ empty: String) async throws -> Void
    ) async throws {
        try await withClusterDirectory { directory in
            let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
            let backup = "\(parent)/backup"
            try await withCluster(in: directory) { cluster async throws in
                _ = try await cluster.query("CREATE TABLE teas AS SELECT 'mate'::text AS name")
                try #require(FileManager.default.createFile(atPath: backup, contents: nil))
                let file = try #require(FileHandle(forWritingAtPath: backup))
                try await EmbeddedCluster.backUp(.init(directory: directory), label: "teas; 7", to: file, logger: .quiet)
            }
            try await body(backup, directory, "\(parent)/empty")
        }
    }

    private static func restore(_ backup: String, into directory: String) async throws -> String {
        let file = try #require(FileHandle(forReadingAtPath: backup))
        return try await EmbeddedCluster.restore(.init(directory: directory), from: file, logger: .quiet)
    }

    private static func names(in directory: String) -> [String] {
        (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
    }

    @Test func `a backup of a cluster that runs has its data and its label`() async throws {
        try await Self.withBackup { backup, _, empty in
            #expect(try await Self.restore(backup, into: empty) == "teas; 7")
            try await withCluster(in: empty) { cluster async throws in
                #expect(try await cluster.query("SELECT name FROM teas") == ["mate"])
            }
        }
    }

    @Test func `a damaged backup, and one of a version that is not there, leave nothing in the directory`() async throws {
        try await Self.withBackup { backup, _, empty in
            func refusal() async throws -> EmbeddedPostgresError {
                let error = await #expect(throws: EmbeddedPostgresError.self) {
                    try await Self.restore(backup + "-2", into: empty)
                }
                #expect(Self.names(in: empty) == ["lock"])
                return try #require(error)
            }
            let good = try Data(contentsOf: URL(fileURLWithPath: backup))
            var flipped = good
            flipped[good.count / 2] ^= 0x10
            for bytes in [Data(), Data("tea\n".utf8), good.prefix(good.count / 2), flipped] {
                try bytes.write(to: URL(fileURLWithPath: backup + "-2"))
                guard case .unusableBackup = try await refusal() else { throw try await refusal() }
            }
            // A sound tar in which a file has other bytes.
            func change(_ file: String, to text: String) async throws {
                let script = """
                    set -e
                    rm -rf "$1-tree"; mkdir "$1-tree"; tar -xzf "$1" -C "$1-tree"
                    echo "$3" >"$1-tree/$2"; tar -czf "$1-2" -C "$1-tree" .
                    """
                try await TestProgram.run("/bin/sh", ["-c", script, "sh", backup, file, text])
            }
            try await change("base/1/PG_VERSION", to: "16")
            guard case .unusableBackup = try await refusal() else { throw try await refusal() }
            try await change("PG_VERSION", to: "99")
            guard case .noPrograms(wanted: 99, _) = try await refusal() else { throw try await refusal() }
        }
    }

    @Test func `a directory with a cluster, or a program that uses it, is refused and stays as it is`() async throws {
        try await Self.withBackup { backup, directory, empty in
            await #expect(throws: EmbeddedPostgresError.hasCluster(directory: directory)) {
                try await Self.restore(backup, into: directory)
            }
            try await withCluster(in: directory) { cluster async throws in
                await #expect(throws: EmbeddedPostgresError.inUse(directory: directory, byProcess: getpid())) {
                    try await Self.restore(backup, into: directory)
                }
                #expect(try await cluster.query("SELECT name FROM teas") == ["mate"])
            }
            try FileManager.default.createDirectory(atPath: empty, withIntermediateDirectories: false)
            try "mate".write(toFile: "\(empty)/tea", atomically: true, encoding: .utf8)
            #expect(try await Self.restore(backup, into: empty) == "teas; 7")
            #expect(Self.names(in: empty).sorted() == ["cluster", "lock", "tea"])
        }
    }

    @Test(.directory()) func `a restore that is cancelled leaves nothing in the directory`() async throws {
        let (pipe, directory) = (Pipe(), directory)
        let input = pipe.fileHandleForReading
        let restoring = Task {
            try await EmbeddedCluster.restore(.init(directory: directory), from: input, logger: .quiet)
        }
        // tar waits for the pipe.
        try await eventually("the beginning") { Self.names(in: directory).contains { $0.hasPrefix("cluster.unfinished") } }
        restoring.cancel()
        try pipe.fileHandleForWriting.close()
        await #expect(throws: (any Error).self) { try await restoring.value }
        #expect(Self.names(in: directory) == ["lock"])
    }
}

import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EmbeddedPostgres

@Suite struct `Refusing to start a private PostgreSQL` {
    @Test(.directory(named: String(repeating: "a", count: 100)))
    func `a directory whose socket path would be too long is refused`() async throws {
        let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
        #expect(
            error?.description == """
                The path of the Unix socket, \(directory)/cluster, is longer than 93 bytes. \
                Choose a shorter directory.
                """)
        #expect(!FileManager.default.fileExists(atPath: directory))
    }

    @Test(arguments: ["pots, cups", "pots\ncups"])
    func `a directory with a comma or a line break is refused, and nothing is made`(name: String) async throws {
        try await withClusterDirectory(named: name) { directory in
            let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
            #expect(error == .unusablePath(path: directory + "/cluster"))
            #expect(!FileManager.default.fileExists(atPath: directory))
        }
    }

    @Test func `a directory with the longest possible socket path is accepted`() async throws {
        try await withClusterDirectory(named: "") { parent in
            let name = String(repeating: "a", count: Layout.socketDirectoryLimit - parent.utf8.count - "/cluster".utf8.count)
            try await withCluster(in: parent + name) { cluster async throws in
                #expect(try await cluster.query("SELECT 'reached'::text") == ["reached"])
            }
        }
    }

    /// PostgreSQL runs as another account only for root, so only root can own a directory that PostgreSQL cannot reach.
    @Test(.directory(named: "mine/cluster"), .enabled(if: getuid() == 0))
    func `a directory that the account of PostgreSQL cannot reach is refused`() async throws {
        let closed = URL(fileURLWithPath: directory).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: closed, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: closed)
        let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
        #expect(
            error?.description == """
                The account postgres, which PostgreSQL runs as, cannot reach \(directory). \
                Choose another directory.
                """)
    }

    @Test(.directory()) func `a file in place of the directory is refused`() async throws {
        let parent = URL(fileURLWithPath: directory).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: parent, withIntermediateDirectories: true)
        try "in the way".write(toFile: directory, atomically: true, encoding: .utf8)
        let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
        guard case .fileSystem(doing: "create", path: directory, _) = try #require(error) else {
            throw try #require(error)
        }
    }

    @Test(.directory()) func `a start without PostgreSQL's programs is refused`() async throws {
        let configuration = EmbeddedCluster.Configuration(directory: directory, programs: "/nowhere")
        let error = await #expect(throws: EmbeddedPostgresError.self) {
            try await EmbeddedCluster.start(configuration, logger: .quiet)
        }
        #expect(
            error?.description == """
                No PostgreSQL 15 or later found (in /nowhere). Install it (Debian: apt-get install postgresql), \
                or name its bin directory.
                """)
        #expect(error?.description(directory: nil, programs: "TEA_BIN").hasSuffix("its bin directory in TEA_BIN.") == true)
    }

    @Test func `a start with programs of an unsupported version only is refused`() async throws {
        try await withClusterDirectory(named: "bin") { programs in
            try writeProgram(at: "\(programs)/postgres", saying: "postgres (PostgreSQL) 14.9 (Debian 14.9-1)")
            try writeProgram(at: "\(programs)/pg_ctl", saying: "")
            await #expect(throws: EmbeddedPostgresError.noPrograms(wanted: nil, lookedIn: [programs])) {
                _ = try await PostgresInstallation.find(in: programs, majorVersion: nil)
            }
            #expect(try await PostgresInstallation.find(in: programs, majorVersion: 14).majorVersion == 14)
        }
    }

    @Test(.directory()) func `a cluster of a PostgreSQL version that is not installed is refused`() async throws {
        try FileManager.default.createDirectory(atPath: "\(directory)/cluster", withIntermediateDirectories: true)
        try "99\n".write(toFile: "\(directory)/cluster/PG_VERSION", atomically: true, encoding: .utf8)
        let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
        #expect(error?.description.hasPrefix("The cluster was made by PostgreSQL 99, which is not found (in ") == true)
        #expect(
            error?.description.hasSuffix("Install postgresql-99, or name its bin directory.") == true)
    }

    private func writeProgram(at path: String, saying text: String) throws {
        let directory = URL(fileURLWithPath: path).deletingLastPathComponent().path
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        try "#!/bin/sh\necho '\(text)'\n".write(toFile: path, atomically: false, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
    }
}

import Foundation
import TestDatabase
import Testing

@testable import EmbeddedPostgres

@Suite struct `Symbolic links in the directories of a private PostgreSQL` {
    @Test func `settings replace a symbolic link and do not write through it`() async throws {
        try await withClusterDirectory { directory in
            try await withCluster(in: directory) { _ in }
            let (settings, other) = ("\(directory)/cluster/postgresql.auto.conf", "\(directory)/other")
            try "keep me".write(toFile: other, atomically: false, encoding: .utf8)
            try FileManager.default.removeItem(atPath: settings)
            try FileManager.default.createSymbolicLink(atPath: settings, withDestinationPath: other)
            try await withCluster(in: directory) { _ in }
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "keep me")
            let attributes = try FileManager.default.attributesOfItem(atPath: settings)
            #expect(attributes[.type] as? FileAttributeType == .typeRegular)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            #expect(attributes[.ownerAccountName] as? String == (getuid() == 0 ? "postgres" : NSUserName()))
            #expect(!FileManager.default.fileExists(atPath: settings + ".new"))
        }
    }

    @Test func `a symbolic link in place of the socket directory is refused and its target keeps its owner`() async throws {
        try await withClusterDirectory { directory in
            let other = URL(fileURLWithPath: directory).deletingLastPathComponent().appending(path: "other").path
            for path in [directory, other] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: other)
            try FileManager.default.createSymbolicLink(atPath: "\(directory)/socket", withDestinationPath: other)
            let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
            #expect(error?.description.hasPrefix("Cannot open the directory \(directory)/socket: ") == true)
            let attributes = try FileManager.default.attributesOfItem(atPath: other)
            #expect(attributes[.posixPermissions] as? Int == 0o755)
            #expect(attributes[.ownerAccountName] as? String == NSUserName())
        }
    }

    @Test func `a symbolic link or a pipe in place of a file is refused without waiting`() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "humon-\(UUID().uuidString.prefix(8))").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: path) }
        try #require(mkfifo("\(path)/pipe", 0o600) == 0)
        try FileManager.default.createSymbolicLink(atPath: "\(path)/link", withDestinationPath: "/etc/passwd")
        try String(repeating: "line\n", count: 100_000).write(toFile: "\(path)/long", atomically: false, encoding: .utf8)
        let files = try DirectoryHandle(path: path)
        for name in ["pipe", "link"] { #expect(throws: EmbeddedPostgresError.self) { try files.text(of: name) } }
        #expect(try files.text(of: "none") == nil)
        #expect(try files.text(of: "long")?.utf8.count == 65_536)
    }

    /// Only root can write files for another account.
    @Test(.enabled(if: getuid() == 0)) func `files are not written into a directory that belongs to another account`()
        async throws
    {
        try await withClusterDirectory { directory in
            let other = URL(fileURLWithPath: directory).deletingLastPathComponent().appending(path: "other").path
            for path in [directory, other] {
                try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
            }
            let version = try await PostgresInstallation.find(in: nil, majorVersion: nil).majorVersion
            try "\(version)\n".write(toFile: "\(other)/PG_VERSION", atomically: false, encoding: .utf8)
            try FileManager.default.createSymbolicLink(atPath: "\(directory)/cluster", withDestinationPath: other)
            let error = await #expect(throws: EmbeddedPostgresError.self) { try await start(in: directory) }
            #expect(error?.description.hasSuffix("the directory does not belong to postgres") == true, "\(error as Any)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: other) == ["PG_VERSION"])
        }
    }
}

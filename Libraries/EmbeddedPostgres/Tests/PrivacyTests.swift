import EmbeddedPostgres
import Foundation
import Postgres
import TestDatabase
import Testing

@Suite(.directory()) struct `The privacy of a private PostgreSQL` {
    @Test func `a private PostgreSQL listens on no TCP port`() async throws {
        try await withCluster(in: directory) { cluster in
            #expect(try await cluster.query("SELECT current_setting('listen_addresses')") == [""])
            let pidFile = try String(contentsOfFile: "\(directory)/cluster/postmaster.pid", encoding: .utf8)
            let lines = pidFile.split(separator: "\n", omittingEmptySubsequences: false)
            // Source: PostgreSQL's `src/include/utils/pidfile.h`: the fifth line is the socket's directory, the sixth the
            // first address that it listens on.
            #expect(lines[4] == "\(directory)/cluster")
            #expect(lines[5] == "")
        }
    }

    @Test func `only the account of PostgreSQL can enter the directory of the cluster and its socket`() async throws {
        try await withCluster(in: directory) { cluster async throws in
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/cluster")
            #expect(attributes[.posixPermissions] as? Int == 0o700)
            #expect(attributes[.ownerAccountName] as? String == (getuid() == 0 ? "postgres" : NSUserName()))
            #expect(try await cluster.query("SELECT current_setting('unix_socket_permissions')") == ["0700"])
        }
    }
}

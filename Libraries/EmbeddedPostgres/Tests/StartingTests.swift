import EmbeddedPostgres
import Foundation
import Postgres
import TestDatabase
import Testing

@Suite struct `Starting a private PostgreSQL` {
    @Test(.directory())
    func `the first start creates the cluster, with data checksums, and a second one finds its data`() async throws {
        try await withCluster(in: directory) { cluster async throws in
            #expect(cluster.url.contains("host='\(directory)/cluster'"))
            #expect(try await cluster.query("SELECT current_user::text") == ["postgres"])
            #expect(try await cluster.query("SELECT current_setting('data_checksums')") == ["on"])
            #expect(FileManager.default.fileExists(atPath: "\(directory)/cluster/server.log"))
            _ = try await cluster.query("CREATE TABLE teas AS SELECT 'mate'::text AS name")
        }
        try await withCluster(in: directory) { cluster async throws in
            #expect(try await cluster.query("SELECT name FROM teas") == ["mate"])
        }
    }

    @Test(.directory()) func `the cluster's URL is known to other processes exactly while the cluster runs`() async throws {
        #expect(try await EmbeddedCluster.urlOfRunning(.init(directory: directory), logger: .quiet) == nil)
        try await withCluster(in: directory) { cluster async throws in
            #expect(try await EmbeddedCluster.urlOfRunning(.init(directory: directory), logger: .quiet) == cluster.url)
        }
        #expect(try await EmbeddedCluster.urlOfRunning(.init(directory: directory), logger: .quiet) == nil)
    }

    @Test(.directory()) func `a start that failed can be tried again by the same process`() async throws {
        let configuration = EmbeddedCluster.Configuration(directory: directory, programs: "/nowhere")
        for _ in 0..<2 {
            let error = await #expect(throws: EmbeddedPostgresError.self) {
                try await EmbeddedCluster.start(configuration, logger: .quiet)
            }
            #expect(error == .noPrograms(wanted: nil, lookedIn: ["/nowhere"]))
        }
    }

    @Test(.directory(named: "it's \"my\" $HOME `id` \\ ;&|<>(*)? ⌘ "))
    func `a relative path works, and one with every character of a shell, and with non-ASCII letters`() async throws {
        let up = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in ".." }.joined(separator: "/")
        try await withCluster(in: up + directory) { cluster async throws in
            #expect(try await cluster.query("SELECT 'reached'::text") == ["reached"])
        }
    }
}

import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `The first start on a private PostgreSQL` {
    /// The first start is killed when a path ends in this: before, in and after initdb, and while PostgreSQL starts and runs.
    private static let stages = [
        "", "/PG_VERSION", "/global/pg_control", "/base/1/PG_VERSION", "cluster/PG_VERSION", "cluster/postmaster.pid",
        "/.s.PGSQL.5432",
    ]

    @Test func `a first start that was killed at any stage can be repeated`() async throws {
        for stage in Self.stages {
            try await HumonProcess.withDirectory { directory in
                let data = directory.appending(path: "data").path
                let first = try HumonProcess(["migrate"], in: directory)
                try await eventually("a path that ends in \(stage)", every: .milliseconds(5)) {
                    FileManager.default.subpaths(atPath: data)?.contains { $0.hasSuffix(stage) } == true
                }
                first.send(SIGKILL)
                _ = try await first.untilExit()
                let again = try await HumonProcess.run(["migrate"], in: directory)
                #expect(again.status == 0, "killed at \(stage): \(again.error)")
                // The second command does not stop a PostgreSQL that the first one started.
                if let process = try? String(contentsOfFile: data + "/cluster/postmaster.pid", encoding: .utf8)
                    .split(separator: "\n").first.flatMap({ Int32($0) })
                {
                    kill(process, SIGQUIT)
                }
                let names = try FileManager.default.contentsOfDirectory(atPath: data)
                #expect(names.contains("cluster"))
            }
        }
    }

    @Test func `a second first start is refused and names the other process`() async throws {
        for _ in 0..<3 {
            try await HumonProcess.withDirectory { directory in
                let servers = try (0..<2).map { _ in try HumonProcess(["serve"], in: directory) }
                func loser() -> Int? { servers.firstIndex { $0.error.contains("Another program") } }
                defer { for server in servers { server.send(SIGKILL) } }
                try await eventually("a server that is refused") { loser() != nil }
                let loser = try #require(loser())
                let winner = servers[1 - loser]
                #expect(servers[loser].error.contains("Another program (process \(winner.identifier)) is running on"))
                #expect(try await servers[loser].untilExit() == 1)
                _ = try await winner.port()
                #expect(winner.output.contains("There are no events yet."))
                #expect(try await winner.stop() == 0)
            }
        }
    }
}

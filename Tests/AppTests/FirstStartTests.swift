import Foundation
import TestDatabase
import TestServer
import Testing

@Suite struct `The first start on a private PostgreSQL` {
    /// The delays after the creation of the directory lie before, in and after initdb, and in the start of the server.
    @Test func `a first start that was killed at any moment can be repeated`() async throws {
        for moment in 0..<8 {
            try await HumonProcess.withDirectory { directory in
                let data = directory.appending(path: "data").path
                let first = try HumonProcess(["migrate"], in: directory)
                try await eventually("the directory", every: .milliseconds(5)) { FileManager.default.fileExists(atPath: data) }
                try await Task.sleep(for: .milliseconds(moment * 200))
                first.send(SIGKILL)
                _ = try await first.untilExit()
                let again = try await HumonProcess.run(["migrate"], in: directory)
                #expect(again.status == 0, "killed at moment \(moment): \(again.error)")
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

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
                try await HumonProcess.run(["migrate"], in: directory).succeeded()
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
}

import Foundation
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite struct `A command on a private PostgreSQL` {
    @Test(arguments: [(Int32(SIGINT), Int32(130)), (Int32(SIGTERM), Int32(143))])
    func `a signal to the command stops the private PostgreSQL`(signal: Int32, code: Int32) async throws {
        try await HumonProcess.withDirectory { directory in
            let process = try HumonProcess(["demo", "--events", "1000000"], in: directory)
            try await eventually("the first events", every: .milliseconds(50)) { process.error.contains(" of 1,000,000") }
            let pidFile = directory.appending(path: "data/cluster/postmaster.pid").path
            #expect(FileManager.default.fileExists(atPath: pidFile))
            process.send(signal)
            #expect(await process.untilExit() == code)
            #expect(!FileManager.default.fileExists(atPath: pidFile))
        }
    }

    @Test func `a closed pipe stops the private PostgreSQL with exit code 0`() async throws {
        try await HumonProcess.withDirectory { directory in
            let demo = try await HumonProcess.run(["demo", "--events", "10"], in: directory)
            #expect(demo.status == 0, "\(demo.error)")
            let script = "exec 3>&1; { \(HumonProcess.executable.path) migrate --check; echo $? >&3; } | true"
            // `true` ends long before PostgreSQL runs.
            let closed = try await HumonProcess.run(["-c", script], in: directory, executable: URL(fileURLWithPath: "/bin/sh"))
            #expect(closed.output == "0\n", "\(closed.error)")
            #expect(!FileManager.default.fileExists(atPath: directory.appending(path: "data/cluster/postmaster.pid").path))
        }
    }
}

@Suite struct `Missing migrations` {
    @Test func `migrate --check lists missing migrations and exits with 2`() async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await HumonProcess.withDirectory { directory in
                let environment = ["DATABASE_URL": database.url]
                let missing = try await HumonProcess.run(
                    ["migrate", "--check", "--json"], in: directory, environment: environment)
                #expect(missing.status == 2)
                #expect(missing.output.hasPrefix(#"{"migration":"0001_log","state":"missing"}"# + "\n"))
                let applied = try await HumonProcess.run(["migrate"], in: directory, environment: environment)
                #expect(applied.status == 0, "\(applied.error)")
                #expect(applied.output.hasPrefix("migration"))
                let check = try await HumonProcess.run(["migrate", "--check"], in: directory, environment: environment)
                #expect((check.status, check.output) == (0, "The database has all migrations.\n"))
            }
        }
    }
}

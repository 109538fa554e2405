import Foundation
import TestDatabase
import TestServer
import Testing

@Suite(.directory) struct `A private PostgreSQL that several programs use` {
    private struct Place {
        let directory: URL

        /// The directory of a server that has the URL of the cluster, and no cluster of its own.
        func visitor() throws -> URL {
            let visitor = directory.appending(path: "visitor")
            try FileManager.default.createDirectory(at: visitor, withIntermediateDirectories: false)
            return visitor
        }

        var url: String { "host='\(directory.path)/data/cluster' user=humon dbname=postgres" }

        /// `nil` if PostgreSQL does not run.
        var postmaster: Int32? {
            let file = directory.appending(path: "data/cluster/postmaster.pid")
            return (try? String(contentsOf: file, encoding: .utf8))?.split(separator: "\n").first.flatMap { Int32($0) }
        }
    }

    /// What an operator's shell may hold for servers elsewhere.
    private static let elsewhere = [
        "PGHOST": "192.0.2.1", "PGHOSTADDR": "192.0.2.1", "PGPORT": "5999", "PGDATABASE": "nowhere", "PGUSER": "nobody",
        "PGSERVICE": "nowhere",
        "PGSERVICEFILE": "/nowhere", "PGOPTIONS": "-c nothing=1", "PGCHANNELBINDING": "require", "PGREQUIREPEER": "nobody",
        "PGREQUIREAUTH": "scram-sha-256", "PGTARGETSESSIONATTRS": "read-only", "PGSSLMODE": "verify-full",
        "PGCLIENTENCODING": "LATIN1",
        "PGDATA": "/nowhere", "PGGSSENCMODE": "require", "PGTZ": "nowhere", "PGDATESTYLE": "nothing",
    ]

    @Test func `is reached whatever variables of PostgreSQL the environment holds`() async throws {
        let environment = Self.elsewhere.merging(["TB_APP_SECRET": HumonProcess.secret]) { $1 }
        try await HumonProcess.withServer(in: directory, environment: environment) { _, port in
            let users = "http://127.0.0.1:\(port)/v1/users"
            #expect(try await exchange("POST", users, headers: [("tb-app-secret", HumonProcess.secret)]).status == 200)
            for environment in [environment, [:]] {
                let result = try await HumonProcess.run(["log", "tail"], in: directory, environment: environment)
                #expect((result.status, result.output.contains("UserCreated")) == (0, true), "\(result.error)")
            }
        }
    }

    @Test func `no command and no server stops or restarts a PostgreSQL that another server uses`() async throws {
        let place = Place(directory: directory)
        let environment = ["TB_APP_SECRET": HumonProcess.secret]
        let owner = try HumonProcess(["serve"], in: directory, environment: environment)
        _ = try await owner.port()
        let process = try #require(place.postmaster)
        try await HumonProcess.withServer(
            in: place.visitor(), environment: environment.merging(["DATABASE_URL": place.url]) { $1 }
        ) { _, port in
            let users = "http://127.0.0.1:\(port)/v1/users"
            let headers = [("tb-app-secret", HumonProcess.secret)]
            #expect(try await exchange("POST", users, headers: headers).status == 200)
            owner.send(SIGKILL)
            _ = try await owner.untilExit()
            for command in [["log", "tail"], ["log", "stats"], ["migrate"]] {
                try await HumonProcess.run(command, in: directory, environment: environment).succeeded()
                #expect(place.postmaster == process, "after \(command)")
            }
            let next = try HumonProcess(["serve"], in: directory, environment: environment)
            _ = try await next.port()
            #expect(place.postmaster == process)
            #expect(try await next.stop() == 0)
            #expect(place.postmaster == process)
            #expect(next.error.contains("PostgreSQL goes on, because other programs use it"), "\(next.error)")
            // The server never lost its connections.
            #expect(try await exchange("POST", users, headers: headers, attempts: 1).status == 200)
        }
        // Nobody else uses it any more.
        try await HumonProcess.withServer(in: directory, environment: environment) { _, _ in
            #expect(place.postmaster == process)
        }
        #expect(place.postmaster == nil)
    }
}

@Suite(.directory) struct `A command on a private PostgreSQL` {
    @Test func `a signal to the command stops the private PostgreSQL`() async throws {
        let pidFile = directory.appending(path: "data/cluster/postmaster.pid").path
        for (signal, code) in [(SIGINT, Int32(130)), (SIGTERM, 143)] {
            let process = try HumonProcess(["demo", "--events", "1000000"], in: directory)
            try await eventually("the first events", every: .milliseconds(50)) { process.error.contains(" of 1,000,000") }
            #expect(FileManager.default.fileExists(atPath: pidFile))
            process.send(signal)
            #expect(try await process.untilExit() == code)
            #expect(!FileManager.default.fileExists(atPath: pidFile))
        }
    }

    @Test func `a command stops the private PostgreSQL that it started, also at a closed pipe with exit code 0`() async throws {
        try await HumonProcess.run(["demo", "--events", "10"], in: directory).succeeded()
        let pidFile = directory.appending(path: "data/cluster/postmaster.pid").path
        #expect(!FileManager.default.fileExists(atPath: pidFile))
        let environment = ["TB_APP_SECRET": HumonProcess.secret]
        let doctor = try await HumonProcess.run(["doctor"], in: directory, environment: environment)
        #expect(doctor.output.contains(" free; the database has "), "\(doctor.output)")
        #expect(doctor.output.contains(/\ndurability +ok\b/), "\(doctor.output)")
        let script = "exec 3>&1; { \(HumonProcess.executable.path) migrate --check; echo $? >&3; } | true"
        // `true` ends long before PostgreSQL runs.
        let closed = try await HumonProcess.run(["-c", script], in: directory, executable: URL(fileURLWithPath: "/bin/sh"))
        #expect(closed.output == "0\n", "\(closed.error)")
        #expect(!FileManager.default.fileExists(atPath: pidFile))
    }
}

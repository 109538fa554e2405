import Foundation
import Postgres
import TestDatabase
import Testing

@testable import EmbeddedPostgres

@Suite struct `Recovering a private PostgreSQL` {
    @Test(.directory()) func `a postmaster that dies is started again immediately`() async throws {
        let cluster = try await start(in: directory)
        _ = try await cluster.query("CREATE TABLE teas AS SELECT 'mate'::text AS name")
        kill(try #require(try postmaster(in: directory)), SIGKILL)
        try await cluster.stop()
        try await withCluster(in: directory) { cluster async throws in
            #expect(try await cluster.query("SELECT name FROM teas") == ["mate"])
        }
    }

    @Test(.directory())
    func `a start takes over a PostgreSQL that goes on without its owner, and does not restart it`() async throws {
        let first = try await start(in: directory)
        #expect(!first.isTakenOver)
        let process = try #require(try postmaster(in: directory))
        first.leave()
        #expect(try await EmbeddedCluster.urlOfRunning(.init(directory: directory), logger: .quiet) == first.url)
        try await withCluster(in: directory) { cluster async throws in
            #expect(cluster.isTakenOver)
            #expect(try postmaster(in: directory) == process)
            #expect(try await cluster.query("SELECT 'reached'::text") == ["reached"])
        }
        #expect(try await EmbeddedCluster.urlOfRunning(.init(directory: directory), logger: .quiet) == nil)
    }

    /// pg_ctl gives up after a second here. PostgreSQL recovers until the file `go` exists.
    @Test(.directory()) func `a recovery that takes longer than pg_ctl waits is waited for and not begun again`() async throws {
        try await withCluster(in: directory) { _ in }
        let layout = try Layout(directory: directory, superuser: "postgres")
        let account = try Account.toRunPostgres(in: "/")
        let go = "\(directory)/cluster/go"
        let signal = "\(directory)/cluster/recovery.signal"
        try #require(FileManager.default.createFile(atPath: signal, contents: nil))
        if let account = account.identity { try #require(chown(signal, account.user, account.group) == 0) }
        let tools = try await ClusterCommands(
            programs: .find(in: nil, majorVersion: layout.clusterVersion), account: account, layout: layout,
            settings: ["restore_command": "until test -e '\(go)'; do sleep 0.1; done; false"], logger: .quiet,
            startTimeoutSeconds: 1)
        let starting = Task { try await tools.start() }
        try await eventually("a postmaster") { tools.isPostmasterAlive }
        let process = try postmaster(in: directory)
        // pg_ctl gives up twice in this time.
        try await Task.sleep(for: .seconds(2.5))
        #expect(try postmaster(in: directory) == process)
        #expect(FileManager.default.createFile(atPath: go, contents: nil))
        try await starting.value
        #expect(try postmaster(in: directory) == process)
        try await tools.stop()
    }

    @Test(.directory()) func `a start removes the unfinished cluster that a killed initdb left`() async throws {
        let half = "\(directory)/cluster.unfinished"
        try FileManager.default.createDirectory(atPath: "\(half)/base", withIntermediateDirectories: true)
        try "15\n".write(toFile: "\(half)/PG_VERSION", atomically: true, encoding: .utf8)
        // initdb runs as the account that PostgreSQL runs as.
        if let account = try Account.toRunPostgres(in: "/").identity {
            for path in [half, "\(half)/base", "\(half)/PG_VERSION"] {
                try #require(chown(path, account.user, account.group) == 0)
            }
        }
        try await withCluster(in: directory) { cluster async throws in
            #expect(try await cluster.query("SELECT 'whole'::text") == ["whole"])
            #expect(!FileManager.default.fileExists(atPath: half))
        }
    }

    /// After a reboot the process id may belong to any other program of the account, such as a second PostgreSQL or a shell.
    @Test func `a start ignores a pid file of no process, of itself, of a zombie and of another program, which it does not kill`()
        async throws
    {
        let bystander = try Process.bystander()
        // A process inherits its blocked signals, and SIGTERM may be one of them.
        defer { kill(bystander.processIdentifier, SIGKILL) }
        let zombie = try zombie()
        defer {
            var status: Int32 = 0
            waitpid(zombie, &status, 0)
        }
        for process in [Int32.max - 1, getpid(), zombie, bystander.processIdentifier] {
            try await expectSurvival(ofPidFileNaming: process)
        }
        #expect(bystander.isRunning)
    }

    @Test(.directory()) func `a start ignores an empty pid file`() async throws {
        try await withCluster(in: directory) { _ in }
        try "".write(toFile: "\(directory)/cluster/postmaster.pid", atomically: false, encoding: .utf8)
        try await withCluster(in: directory) { cluster async throws in
            #expect(try await cluster.query("SELECT 'started'::text") == ["started"])
        }
    }

    private func expectSurvival(ofPidFileNaming process: Int32) async throws {
        try await withClusterDirectory { directory in
            let pidFile = "\(directory)/cluster/postmaster.pid"
            let text = try await withCluster(in: directory) { _ in try String(contentsOfFile: pidFile, encoding: .utf8) }
            let stale = "\(process)\n" + text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)[1]
            for file in [pidFile, "\(directory)/cluster/.s.PGSQL.5432.lock"] {
                try stale.write(toFile: file, atomically: false, encoding: .utf8)
            }
            try await withCluster(in: directory) { cluster async throws in
                #expect(try await cluster.query("SELECT 'started'::text") == ["started"], "\(process)")
            }
        }
    }
}

/// Starts a program under the account of PostgreSQL, which ends, and does not wait for it.
private func zombie() throws -> Int32 {
    let words =
        getuid() == 0
        ? ["/usr/bin/setpriv", "--reuid=postgres", "--regid=postgres", "--clear-groups", "/bin/true"] : ["/bin/true"]
    var arguments = words.map { strdup($0) } + [nil]
    defer { for argument in arguments { free(argument) } }
    var process: pid_t = 0
    try #require(posix_spawn(&process, words[0], nil, nil, &arguments, nil) == 0)
    return process
}

extension Process {
    /// Sleeps under the account of PostgreSQL.
    fileprivate static func bystander() throws -> Process {
        let process = Process()
        let isRoot = getuid() == 0
        process.executableURL = URL(fileURLWithPath: isRoot ? "/usr/bin/setpriv" : "/bin/sleep")
        let asPostgres = ["--reuid=postgres", "--regid=postgres", "--clear-groups", "/bin/sleep"]
        process.arguments = (isRoot ? asPostgres : []) + ["600"]
        // The sleeping process must not keep the output of the tests open.
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}

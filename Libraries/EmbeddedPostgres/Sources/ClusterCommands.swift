internal import Foundation
internal import Logging
internal import Subprocess
internal import SystemPackage

/// initdb, pg_ctl and what else writes in the cluster, run as the account that the cluster belongs to.
struct ClusterCommands: Sendable {
    /// A program that writes more counts as failed.
    private static let outputLimitBytes = 1 << 20
    private static let pauseSeconds = 0.1
    /// A recovery that takes longer is worth a line of the log.
    private static let noticeSeconds = 5.0
    /// A shutdown that waits for clients, as SIGTERM begins one, takes as long as they like.
    private static let stopSeconds = 60
    /// After the postmaster was killed its children need a moment to notice; until then a new one refuses to start.
    private static let startAttempts = 5

    var programs: PostgresInstallation
    let account: Account
    let layout: Layout
    /// Each start passes these settings on, so that those of a newer program are in force in an older cluster.
    let settings: [String: String]
    let logger: Logger
    /// After this time pg_ctl no longer watches the start.
    var startTimeoutSeconds = 60

    /// initdb makes a directory that becomes the cluster.
    func initialise() async throws {
        let unfinished = try await makeUnfinished()
        try await initialise(unfinished)
        try install(unfinished)
    }

    /// initdb makes a cluster of an empty directory.
    func initialise(_ directory: String) async throws {
        // trust: only this account and root can enter the socket's directory.
        try await run(
            "initdb", "--pgdata", directory, "--username", layout.superuser, "--auth", "trust",
            "--encoding", "UTF8", "--no-locale", "--no-instructions", "--data-checksums"
        )
    }

    /// Removes what earlier tries left, and makes an empty directory for the account.
    func makeUnfinished() async throws -> String {
        for unfinished in layout.unfinishedClusters { await remove(unfinished) }
        let unfinished = layout.newUnfinishedCluster
        try makeDirectory(unfinished)
        return unfinished
    }

    /// Makes an empty directory for the account.
    func makeDirectory(_ path: String) throws {
        guard SystemCalls.makeDirectory(path, mode: 0o700) == 0,
            account.identity.map({ SystemCalls.changeOwner(of: path, to: $0.user, $0.group) == 0 }) ?? true
        else {
            throw EmbeddedPostgresError.fileSystem(doing: "create", path: path, reason: SystemCalls.reason)
        }
    }

    /// The directory becomes the cluster as a whole and in one step.
    func install(_ unfinished: String) throws {
        let directory = try FileHandle(forReadingFrom: URL(fileURLWithPath: layout.directory))
        guard SystemCalls.rename(unfinished, to: layout.cluster) == 0, (try? directory.synchronize()) != nil else {
            throw EmbeddedPostgresError.fileSystem(doing: "create", path: layout.cluster, reason: SystemCalls.reason)
        }
    }

    /// The initdb of a killed program may still write in the directory and leave files there; the next call removes those.
    func remove(_ directory: String) async {
        _ = try? await execute(FilePath("/bin/rm"), ["-rf", "--", directory])
        // The account may not remove a name from root's directory.
        SystemCalls.removeDirectory(directory)
    }

    /// Waits while the postmaster starts or recovers, without a time limit: a postmaster that is stopped in its recovery begins it again
    /// from the same place. Waits for a postmaster that stops, too.
    /// - Returns: whether PostgreSQL takes connections; `false` if no postmaster lives, or only that of a killed upgrade
    /// - Throws: ``EmbeddedPostgresError/stopsSlowly(seconds:)``, or `CancellationError`
    static func isReady(_ layout: Layout, logger: Logger) async throws -> Bool {
        let begin = ContinuousClock.now
        var isNoticed = false
        while let postmaster = Postmaster(of: layout), !postmaster.isMistaken, !postmaster.isOfUpgrade {
            let waited = ContinuousClock.now - begin
            switch postmaster.state {
            // A standby without connections is as ready as it can be.
            case "ready", "standby": return true
            case "stopping":
                guard waited < .seconds(stopSeconds) else { throw EmbeddedPostgresError.stopsSlowly(seconds: stopSeconds) }
            default:
                if waited > .seconds(noticeSeconds), !isNoticed {
                    logger.warning(
                        "PostgreSQL starts, or recovers from a crash; waiting for it", metadata: ["log": "\(layout.log)"])
                    isNoticed = true
                }
            }
            try await Task.sleep(for: .seconds(pauseSeconds))
        }
        return false
    }

    /// Starts PostgreSQL, and waits for as long as it recovers from a crash.
    func start() async throws {
        // PostgreSQL takes an empty pid file, which a crash of the machine leaves, for that of a server that is just starting, and the
        // number in a socket's lock file for that of another server. Neither runs, since the process that starts one holds the lock.
        _ = try await execute(
            FilePath("/usr/bin/find"),
            [
                layout.cluster + "/", "-maxdepth", "1", "(", "-name", "postmaster.pid", "-empty", "-o", "-name",
                ".s.PGSQL.*.lock", ")",
                "-delete",
            ])
        for attempt in 1... {
            if Postmaster(of: layout)?.isOfUpgrade == true { try await stop() }
            if Postmaster(of: layout)?.isMistaken == true {
                // pg_ctl and PostgreSQL would take that process for the postmaster, so the file gets a number that no process has. The
                // rest stays, since by it PostgreSQL sees whether children of the dead postmaster still hold its memory.
                _ = try await execute(FilePath("/bin/sed"), ["-i", "1s/.*/\(Int32.max)/", layout.pidFile])
            }
            // pg_ctl starts PostgreSQL by a shell and quotes no path for it. So the paths are relative, and their directory is not.
            let start = try await execute(
                programs.directory.appending("pg_ctl"),
                [
                    "start", "--pgdata", ".", "--wait", "--timeout", String(startTimeoutSeconds), "--log",
                    layout.logName, "--options", options, "--silent",
                ],
                in: layout.cluster
            )
            if start.succeeded { return }
            // A postmaster that lives still recovers, or the pg_ctl of a killed program started it.
            if try await Self.isReady(layout, logger: logger) { return }
            guard attempt < Self.startAttempts else {
                let log = try await execute(FilePath("/usr/bin/tail"), ["-n", "5", layout.log])
                throw EmbeddedPostgresError.failed(program: "pg_ctl start", output: "\(start.output) \(log.output)")
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// The settings as words for a shell.
    private var options: String {
        let own = [
            "listen_addresses": "",
            "unix_socket_directories": layout.cluster,
            "unix_socket_permissions": "0700",
            "timezone": "UTC",
            // The queries are small and frequent: compiling them costs more than running them.
            "jit": "off",
        ]
        return own.merging(settings) { _, theirs in theirs }.sorted { $0.key < $1.key }
            .map { "-c '\($0.key)=\($0.value.replacing("'", with: "'\\''"))'" }.joined(separator: " ")
    }

    /// Does nothing if the postmaster is gone, killed perhaps a moment ago.
    func stop() async throws {
        guard isPostmasterAlive else { return }
        do {
            try await run("pg_ctl", "stop", "--pgdata", layout.cluster, "--mode", "fast", "--wait", "--silent")
        } catch {
            if isPostmasterAlive { throw error }
        }
    }

    var isPostmasterAlive: Bool { Postmaster(of: layout)?.isMistaken == false }

    /// - Throws: ``EmbeddedPostgresError/notReachable(directory:account:)``
    func requireReachable(_ directory: String) async throws {
        guard account.identity != nil else { return }
        let result = try await execute(FilePath("/usr/bin/test"), ["-x", directory])
        guard result.succeeded else { throw EmbeddedPostgresError.notReachable(directory: directory, account: account.name) }
    }

    func run(_ program: String, _ arguments: String...) async throws {
        let result = try await execute(programs.directory.appending(program), arguments)
        guard result.succeeded else { throw EmbeddedPostgresError.failed(program: program, output: result.output) }
    }

    /// - Parameters:
    ///   - directory: not that of this program, which may be one that the account cannot enter
    ///   - input: the program's standard input; nil: nothing
    ///   - file: gets the program's standard output; nil: the result has it
    func execute(
        _ path: FilePath, _ arguments: [String], in directory: String = "/", input: FileHandle? = nil, to file: FileHandle? = nil
    ) async throws -> (succeeded: Bool, output: String) {
        var options = PlatformOptions()
        var program = Executable.path(path)
        var arguments = arguments
        if let identity = account.identity {
            // A program of one thread changes the account. Subprocess would do it between its clone and exec, where glibc's
            // setgroups can wait for ever for a thread that was just being made in this process.
            program = .name("setpriv")
            let change = ["--reuid=\(identity.user)", "--regid=\(identity.group)", "--clear-groups", "--", path.string]
            arguments = change + arguments
        }
        // A session of its own: Ctrl-C at the terminal is for this program, which stops PostgreSQL after its own work.
        options.createSession = true
        let configuration = Subprocess.Configuration(
            executable: program, arguments: Arguments(arguments), workingDirectory: FilePath(directory), platformOptions: options)
        let text: StringOutput<UTF8> = .string(limit: Self.outputLimitBytes, encoding: UTF8.self)
        let end: (succeeded: Bool, texts: [String])
        if let file {
            let target = FileDescriptor(rawValue: file.fileDescriptor)
            let result = try await Subprocess.run(
                configuration, output: .fileDescriptor(target, closeAfterSpawningProcess: false), error: text)
            end = (result.terminationStatus.isSuccess, [result.standardError])
        } else if let input {
            let source = FileDescriptor(rawValue: input.fileDescriptor)
            let result = try await Subprocess.run(
                configuration, input: .fileDescriptor(source, closeAfterSpawningProcess: false), output: text, error: text)
            end = (result.terminationStatus.isSuccess, [result.standardOutput, result.standardError])
        } else {
            let result = try await Subprocess.run(configuration, output: text, error: text)
            end = (result.terminationStatus.isSuccess, [result.standardOutput, result.standardError])
        }
        return (end.succeeded, end.texts.joined(separator: " ").split(whereSeparator: \.isNewline).joined(separator: " "))
    }
}

/// The account that PostgreSQL runs as: root's PostgreSQL runs as `postgres`, everyone else's as themselves. Root uses no directory of
/// another account, which could lead root elsewhere, and would find root's files in its way.
struct Account: Sendable {
    var name: String
    /// nil: the account of this process.
    var identity: (user: uid_t, group: gid_t)?

    static func toRunPostgres(in directory: String) throws(EmbeddedPostgresError) -> Account {
        guard getuid() == 0 else { return Account(name: NSUserName(), identity: nil) }
        guard let identity = SystemCalls.account(named: "postgres") else { throw .noPostgresAccount }
        let owner = (try? FileManager.default.attributesOfItem(atPath: directory))?[.ownerAccountName] as? String
        if let owner, owner != "root", owner != "postgres" { throw .ofAnother(directory: directory, account: owner) }
        return Account(name: "postgres", identity: identity)
    }
}

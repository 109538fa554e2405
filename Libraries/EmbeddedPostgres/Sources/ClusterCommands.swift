internal import Foundation
internal import Logging
internal import Subprocess
internal import SystemPackage

/// initdb and pg_ctl, run as the account that the cluster belongs to.
struct ClusterCommands: Sendable {
    /// How much of a failed program's output is shown.
    private static let outputLimitBytes = 64 * 1024
    /// After the postmaster was killed its children need a moment to notice; until then a new one refuses to start.
    private static let startAttempts = 5

    let programs: PostgresInstallation
    let account: Account
    let layout: Layout
    let logger: Logger
    /// After this time pg_ctl no longer watches the start.
    var startTimeoutSeconds = 60

    func initialise() async throws {
        for unfinished in layout.unfinishedClusters { await remove(unfinished) }
        let unfinished = try layout.makeUnfinishedCluster(for: account)
        // trust: only this account and root can enter the socket's directory.
        try await run(
            "initdb", "--pgdata", unfinished, "--username", layout.superuser, "--auth", "trust",
            "--encoding", "UTF8", "--no-locale", "--no-instructions", "--data-checksums"
        )
        try layout.install(unfinished)
    }

    /// Runs as the account, so that root follows no link that the account makes meanwhile. The initdb of a killed program may still
    /// write in the directory and leave files there; the next call removes those.
    private func remove(_ directory: String) async {
        _ = try? await execute(FilePath("/bin/rm"), ["-rf", "--", directory])
        // The account may not remove a name from root's directory.
        SystemCalls.removeDirectory(directory)
    }

    /// Starts PostgreSQL, and waits for as long as it recovers from a crash.
    func start() async throws {
        for attempt in 1... {
            if layout.isPidFileMisleading { try layout.disownPostmaster(of: account) }
            let start = try await status(
                "pg_ctl",
                [
                    "start", "--pgdata", layout.cluster, "--wait", "--timeout", String(startTimeoutSeconds), "--log",
                    layout.log,
                    "--silent",
                ]
            )
            if start.succeeded { return }
            // A postmaster that lives still recovers, or the pg_ctl of a killed program started it.
            if try await layout.isReady(logger: logger) { return }
            guard attempt < Self.startAttempts else {
                throw EmbeddedPostgresError.failed(program: "pg_ctl start", output: "\(start.output) \(endOfLog)")
            }
            try await Task.sleep(for: .seconds(1))
        }
    }

    /// Lets a PostgreSQL that runs take over the settings that need no restart.
    func reload() async throws { try await run("pg_ctl", "reload", "--pgdata", layout.cluster, "--silent") }

    /// Does nothing if the postmaster is gone, killed perhaps a moment ago.
    func stop() async throws {
        guard layout.isPostmasterAlive else { return }
        do {
            try await run("pg_ctl", "stop", "--pgdata", layout.cluster, "--mode", "fast", "--wait", "--silent")
        } catch {
            if layout.isPostmasterAlive { throw error }
        }
    }

    /// - Throws: ``EmbeddedPostgresError/notReachable(directory:account:)``
    func requireReachable(_ directory: String) async throws {
        guard account.identity != nil else { return }
        let result = try await execute(FilePath("/usr/bin/test"), ["-x", directory])
        guard result.succeeded else { throw EmbeddedPostgresError.notReachable(directory: directory, account: account.name) }
    }

    private var endOfLog: String { layout.endOfLog.split(separator: "\n").suffix(5).joined(separator: " | ") }

    private func run(_ program: String, _ arguments: String...) async throws {
        let result = try await status(program, arguments)
        guard result.succeeded else { throw EmbeddedPostgresError.failed(program: program, output: result.output) }
    }

    private func status(_ program: String, _ arguments: [String]) async throws -> (succeeded: Bool, output: String) {
        try await execute(programs.directory.appending(program), arguments)
    }

    private func execute(_ path: FilePath, _ arguments: [String]) async throws -> (succeeded: Bool, output: String) {
        var options = PlatformOptions()
        var program = Executable.path(path)
        var arguments = arguments
        if let identity = account.identity {
            #if os(Linux)
                // A program of one thread changes the account. Subprocess would do it between its clone and exec, where glibc's
                // setgroups can wait for ever for a thread that was just being made in this process.
                program = .name("setpriv")
                let change = ["--reuid=\(identity.user)", "--regid=\(identity.group)", "--clear-groups", "--", path.string]
                arguments = change + arguments
            #else
                options.userID = identity.user
                options.groupID = identity.group
                options.supplementaryGroups = []
            #endif
        }
        // A session of its own: Ctrl-C at the terminal is for this program, which stops PostgreSQL after its own work.
        options.createSession = true
        let result = try await Subprocess.run(
            program,
            arguments: Arguments(arguments),
            // The directory that this program was started in may be one that the account cannot enter.
            workingDirectory: "/",
            platformOptions: options,
            output: .string(limit: Self.outputLimitBytes, encoding: UTF8.self),
            error: .string(limit: Self.outputLimitBytes, encoding: UTF8.self)
        )
        let output = [result.standardOutput, result.standardError].compactMap { $0 }
            .joined(separator: " ").split(whereSeparator: \.isNewline).joined(separator: " ")
        return (result.terminationStatus.isSuccess, output)
    }
}

/// The account that PostgreSQL runs as: root's PostgreSQL runs as `postgres`, everyone else's as themselves.
struct Account: Sendable {
    var name: String
    /// nil: the account of this process.
    var identity: (user: uid_t, group: gid_t)?

    var user: uid_t { identity?.user ?? getuid() }

    static func toRunPostgres() throws(EmbeddedPostgresError) -> Account {
        guard getuid() == 0 else { return Account(name: NSUserName(), identity: nil) }
        guard let identity = SystemCalls.account(named: "postgres") else { throw .noPostgresAccount }
        return Account(name: "postgres", identity: identity)
    }
}

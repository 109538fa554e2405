internal import Foundation
internal import Logging

/// The files and directories of an embedded cluster.
struct Layout: Sendable {
    /// The longest path that `sockaddr_un` holds, less the name that PostgreSQL gives its socket.
    static let socketDirectoryLimit = 107 - "/.s.PGSQL.5432".utf8.count

    private static let logName = "server.log"
    private static let pidFileName = "postmaster.pid"
    private static let settingsName = "postgresql.auto.conf"
    private static let unfinishedPrefix = "cluster.unfinished"
    /// The line of the pid file with the state of the postmaster, from 1: `LOCK_FILE_LINE_PM_STATUS` of PostgreSQL's pidfile.h.
    private static let stateLine = 8
    private static let pauseSeconds = 0.1
    /// A recovery that takes longer is worth a line of the log.
    private static let noticeSeconds = 5.0
    /// A shutdown that waits for clients, as SIGTERM begins one, takes as long as they like.
    private static let stopSeconds = 60

    let directory: String
    let superuser: String

    init(directory: String, superuser: String) throws(EmbeddedPostgresError) {
        self.superuser = superuser
        self.directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        guard socketDirectory.utf8.count <= Self.socketDirectoryLimit else {
            throw .socketPathTooLong(path: socketDirectory, limit: Self.socketDirectoryLimit)
        }
    }

    var cluster: String { "\(directory)/cluster" }
    var socketDirectory: String { "\(directory)/socket" }
    var lock: String { "\(directory)/lock" }
    var log: String { "\(cluster)/\(Self.logName)" }

    /// A keyword string, with the path quoted as libpq wants it.
    var url: String {
        let path = socketDirectory.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(path)' user=\(superuser) dbname=postgres"
    }

    /// The major version of PostgreSQL that made the cluster; nil before initdb.
    var clusterVersion: Int? {
        textInCluster("PG_VERSION").flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }

    /// The process that the cluster's pid file names.
    var postmaster: Int32? {
        textInCluster(Self.pidFileName).flatMap { $0.split(separator: "\n").first }.flatMap { Int32($0) }
    }

    /// What PostgreSQL logged last, at most 64 KiB of it.
    var endOfLog: String { textInCluster(Self.logName) ?? "" }

    /// Whether the process of the pid file is there and is the cluster's postmaster.
    var isPostmasterAlive: Bool {
        guard let postmaster, kill(postmaster, 0) == 0 else { return false }
        return !isPostmasterOfAnother && !Self.isZombie(postmaster)
    }

    /// Whether a process is there that pg_ctl and PostgreSQL would take for the postmaster, and which is not: another program that got
    /// the number after a restart of the machine, or a postmaster that has ended and whose parent has not noticed.
    var isPidFileMisleading: Bool {
        guard let postmaster, kill(postmaster, 0) == 0 else { return false }
        return !isPostmasterAlive
    }

    /// Waits while the postmaster starts or recovers, without a time limit: a postmaster that is stopped in its recovery begins it again
    /// from the same place. Waits for a postmaster that stops, too.
    /// - Returns: whether PostgreSQL takes connections; `false` if no postmaster lives
    /// - Throws: ``EmbeddedPostgresError/stopsSlowly(seconds:)``, or `CancellationError`
    func isReady(logger: Logger) async throws -> Bool {
        let begin = ContinuousClock.now
        var isNoticed = false
        while isPostmasterAlive {
            let waited = ContinuousClock.now - begin
            switch postmasterState {
            // A standby without connections is as ready as it can be.
            case "ready", "standby": return true
            case "stopping":
                guard waited < .seconds(Self.stopSeconds) else {
                    throw EmbeddedPostgresError.stopsSlowly(seconds: Self.stopSeconds)
                }
            default:
                if waited > .seconds(Self.noticeSeconds), !isNoticed {
                    logger.warning("PostgreSQL starts, or recovers from a crash; waiting for it", metadata: ["log": "\(log)"])
                    isNoticed = true
                }
            }
            try await Task.sleep(for: .seconds(Self.pauseSeconds))
        }
        return false
    }

    /// The pid file has the state in a line of its own, padded with spaces.
    private var postmasterState: String? {
        let lines = (textInCluster(Self.pidFileName) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropFirst(Self.stateLine - 1).first?.trimmingCharacters(in: .whitespaces)
    }

    /// Whether the process of the pid file is known to be something else: a postmaster works in the directory of its cluster.
    private var isPostmasterOfAnother: Bool {
        guard let postmaster, let works = SystemCalls.realPath("/proc/\(postmaster)/cwd"),
            let own = SystemCalls.realPath(cluster)
        else { return false }
        return works != own
    }

    /// Whether the process has ended and keeps its number until its parent asks for its status. `false` on systems without /proc.
    private static func isZombie(_ process: Int32) -> Bool {
        guard let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8) else { return false }
        // The name of the program stands in parentheses and may contain some.
        return status[(status.lastIndex(of: ")") ?? status.startIndex)...].dropFirst(2).first == "Z"
    }

    /// Puts a number in the pid file that no process has. The rest of the file stays, since by it PostgreSQL sees whether
    /// children of the dead postmaster still hold its memory.
    func disownPostmaster(of account: Account) throws(EmbeddedPostgresError) {
        let files = try DirectoryHandle(path: cluster)
        guard let text = try files.text(of: Self.pidFileName) else { return }
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        try files.replace(
            Self.pidFileName, with: (["\(Int32.max)"] + lines.dropFirst()).joined(separator: "\n"), owner: account)
    }

    /// PostgreSQL takes an empty pid file, which a crash of the machine leaves, for that of a server that is just starting. It is
    /// not, since the process that starts one holds the lock.
    func removeEmptyPidFile() throws(EmbeddedPostgresError) {
        let files = try DirectoryHandle(path: cluster)
        if try files.text(of: Self.pidFileName)?.isEmpty == true { try files.remove(Self.pidFileName) }
    }

    private func textInCluster(_ name: String) -> String? { try? DirectoryHandle(path: cluster).text(of: name) }

    func createDirectory() throws(EmbeddedPostgresError) {
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw .fileSystem(doing: "create", path: directory, reason: "\(error.localizedDescription)")
        }
    }

    /// Settings are written anew at every start, so that those of a newer program are in force in an older cluster.
    func write(settings: [String: String], account: Account) throws(EmbeddedPostgresError) {
        let own = [
            "listen_addresses": "",
            "unix_socket_directories": socketDirectory,
            "unix_socket_permissions": "0700",
            "timezone": "UTC",
            // The queries are small and frequent: compiling them costs more than running them.
            "jit": "off",
        ]
        let lines = own.merging(settings) { _, theirs in theirs }
            .map { "\($0) = '\($1.replacing("\\", with: "\\\\").replacing("'", with: "''"))'" }
            .sorted()
        // PostgreSQL reads this file after postgresql.conf, which initdb wrote, and the later line wins.
        let text = "# Written at every start.\n" + lines.joined(separator: "\n") + "\n"
        try DirectoryHandle(path: cluster).replace(Self.settingsName, with: text, owner: account)
    }

    /// A new directory for one try of initdb. A killed program leaves its initdb running, which must not meet the next try.
    func makeUnfinishedCluster(for account: Account) throws(EmbeddedPostgresError) -> String {
        guard let path = SystemCalls.makeTemporaryDirectory("\(directory)/\(Self.unfinishedPrefix).XXXXXX") else {
            throw .fileSystem(doing: "create a directory in", path: directory)
        }
        try DirectoryHandle(path: path).take(for: account)
        return path
    }

    /// What earlier tries left, of this version and of older ones.
    var unfinishedClusters: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix(Self.unfinishedPrefix) }.map { "\(directory)/\($0)" }
    }

    /// The directory becomes the cluster, as a whole and in one step.
    func install(_ unfinished: String) throws(EmbeddedPostgresError) {
        guard SystemCalls.rename(unfinished, to: cluster) == 0 else { throw .fileSystem(doing: "rename to", path: cluster) }
        try DirectoryHandle(path: directory).synchronise()
    }

    /// Makes the directory of the socket, which only this account can enter.
    func makeSocketDirectory(for account: Account) throws(EmbeddedPostgresError) {
        guard SystemCalls.makeDirectory(socketDirectory, mode: 0o700) == 0 || errno == EEXIST else {
            throw .fileSystem(doing: "create", path: socketDirectory)
        }
        try DirectoryHandle(path: socketDirectory, followsLink: false).take(for: account)
    }
}

internal import Foundation

/// The files and directories of an embedded cluster.
struct Layout: Sendable {
    /// The longest path that `sockaddr_un` holds, less the name that PostgreSQL gives its socket.
    static let socketDirectoryLimit = 107 - "/.s.PGSQL.5432".utf8.count

    static let superuser = "humon"

    private static let logName = "server.log"
    private static let pidFileName = "postmaster.pid"
    private static let settingsName = "postgresql.auto.conf"
    private static let unfinishedPrefix = "cluster.unfinished"

    let directory: String

    init(directory: String) throws(EmbeddedPostgresError) {
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
        return "host='\(path)' user=\(Self.superuser) dbname=postgres"
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

    /// Without a pid file, or with one that names a process there is not, it is dead.
    var isPostmasterAlive: Bool {
        guard let postmaster, !isPostmasterOfAnother else { return false }
        return kill(postmaster, 0) == 0 || errno == EPERM
    }

    /// Whether the process of the pid file is known to be something else: a postmaster works in the directory of its cluster.
    var isPostmasterOfAnother: Bool {
        guard let postmaster, let works = resolved("/proc/\(postmaster)/cwd"), let own = resolved(cluster) else { return false }
        return works != own
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

    private func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    func createDirectory() throws(EmbeddedPostgresError) {
        do {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        } catch {
            throw .fileSystem(doing: "create", path: directory, reason: "\(error.localizedDescription)")
        }
    }

    /// Settings are written anew at every start, so that a newer humon's are in force in an older cluster.
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
        let text = "# Written by humon at every start.\n" + lines.joined(separator: "\n") + "\n"
        try DirectoryHandle(path: cluster).replace(Self.settingsName, with: text, owner: account)
    }

    /// A new directory for one try of initdb. A killed humon leaves its initdb running, which must not meet the next try.
    func makeUnfinishedCluster(for account: Account) throws(EmbeddedPostgresError) -> String {
        var template = Array("\(directory)/\(Self.unfinishedPrefix).XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw .fileSystem(doing: "create a directory in", path: directory) }
        let path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
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
        guard rename(unfinished, cluster) == 0 else { throw .fileSystem(doing: "rename to", path: cluster) }
        try DirectoryHandle(path: directory).synchronise()
    }

    /// Makes the directory of the socket, which only this account can enter.
    func makeSocketDirectory(for account: Account) throws(EmbeddedPostgresError) {
        guard mkdir(socketDirectory, 0o700) == 0 || errno == EEXIST else {
            throw .fileSystem(doing: "create", path: socketDirectory)
        }
        try DirectoryHandle(path: socketDirectory, followsLink: false).take(for: account)
    }
}

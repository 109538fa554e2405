internal import Foundation

/// What is where in the directory of an embedded cluster.
struct Layout: Sendable {
    /// The longest path that `sockaddr_un` holds, less the name that PostgreSQL gives its socket.
    static let socketDirectoryLimit = 107 - "/.s.PGSQL.5432".utf8.count

    static let superuser = "humon"

    let directory: String

    init(directory: String) throws(EmbeddedPostgresError) {
        self.directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        guard socketDirectory.utf8.count <= Self.socketDirectoryLimit else {
            throw .socketPathTooLong(path: socketDirectory, limit: Self.socketDirectoryLimit)
        }
    }

    var cluster: String { "\(directory)/cluster" }
    /// Becomes the cluster once it is whole, so that a killed initdb leaves no half of one.
    var unfinishedCluster: String { "\(directory)/cluster.unfinished" }
    var socketDirectory: String { "\(directory)/socket" }
    var lock: String { "\(directory)/lock" }
    var log: String { "\(cluster)/server.log" }

    /// A keyword string, with the path quoted as libpq wants it.
    var url: String {
        let path = socketDirectory.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(path)' user=\(Self.superuser) dbname=postgres"
    }

    /// The major version of PostgreSQL that made the cluster; nil where there is none.
    var clusterVersion: Int? {
        (try? String(contentsOfFile: "\(cluster)/PG_VERSION", encoding: .utf8)).flatMap {
            Int($0.trimmingCharacters(in: .whitespacesAndNewlines))
        }
    }

    /// The process that the cluster's pid file names.
    var postmaster: Int32? {
        (try? String(contentsOfFile: pidFile, encoding: .utf8)).flatMap { $0.split(separator: "\n").first }.flatMap { Int32($0) }
    }

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
    func disownPostmaster() throws(EmbeddedPostgresError) {
        do {
            let lines = try String(contentsOfFile: pidFile, encoding: .utf8).split(
                separator: "\n", omittingEmptySubsequences: false)
            let text = (["\(Int32.max)"] + lines.dropFirst()).joined(separator: "\n")
            try text.write(toFile: pidFile, atomically: false, encoding: .utf8)
        } catch {
            throw .fileSystem(doing: "correct", path: pidFile, reason: "\(error.localizedDescription)")
        }
    }

    /// PostgreSQL takes an empty pid file, which a crash of the machine leaves, for that of a server that is just starting. It is
    /// not, since whoever starts one holds the lock.
    func removeEmptyPidFile() {
        if let text = try? String(contentsOfFile: pidFile, encoding: .utf8), text.isEmpty { unlink(pidFile) }
    }

    private var pidFile: String { "\(cluster)/postmaster.pid" }

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
            // What is asked here is small and frequent: compiling it costs more than running it.
            "jit": "off",
        ]
        let lines = own.merging(settings) { _, theirs in theirs }
            .map { "\($0) = '\($1.replacing("\\", with: "\\\\").replacing("'", with: "''"))'" }
            .sorted()
        do {
            // Later lines win over those that initdb wrote.
            let path = "\(cluster)/postgresql.auto.conf"
            let text = "# Written by humon at every start.\n" + lines.joined(separator: "\n") + "\n"
            try text.write(toFile: path, atomically: false, encoding: .utf8)
        } catch {
            throw .fileSystem(doing: "write settings in", path: cluster, reason: "\(error.localizedDescription)")
        }
    }
}

/// The account that PostgreSQL runs as: root's PostgreSQL runs as `postgres`, everyone else's as themselves.
struct Account: Sendable {
    var name: String
    /// nil: the account of this process.
    var identity: (user: uid_t, group: gid_t)?

    static func toRunPostgres() throws(EmbeddedPostgresError) -> Account {
        guard getuid() == 0 else { return Account(name: NSUserName(), identity: nil) }
        guard let entry = getpwnam("postgres") else { throw .noPostgresAccount }
        return Account(name: "postgres", identity: (entry.pointee.pw_uid, entry.pointee.pw_gid))
    }

    /// Makes a directory that only this account can enter.
    func take(_ path: String) throws(EmbeddedPostgresError) {
        mkdir(path, 0o700)
        let isTaken = identity.map { chown(path, $0.user, $0.group) == 0 } ?? true
        guard isTaken, chmod(path, 0o700) == 0 else {
            throw .fileSystem(doing: "prepare", path: path, reason: String(cString: strerror(errno)))
        }
    }
}

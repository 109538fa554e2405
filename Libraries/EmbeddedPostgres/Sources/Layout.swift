internal import Foundation

/// The files and directories of an embedded cluster.
///
/// The directory belongs to this process's account, and `cluster` to the account of PostgreSQL. As root this process only reads in
/// `cluster`, so that no link there leads root to write elsewhere.
struct Layout: Sendable {
    /// The longest path that `sockaddr_un` holds, less the name that PostgreSQL gives its socket.
    static let socketDirectoryLimit = 107 - "/.s.PGSQL.5432".utf8.count

    let directory: String
    let superuser: String
    private var name = "cluster"

    init(directory: String, superuser: String) throws(EmbeddedPostgresError) {
        self.superuser = superuser
        self.directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        // libpq takes a comma for the end of a host, and the pid file has a line for each value.
        guard !cluster.utf8.contains(where: ",\n\r".utf8.contains) else { throw .unusablePath(path: cluster) }
        guard cluster.utf8.count <= Self.socketDirectoryLimit else {
            throw .socketPathTooLong(path: cluster, limit: Self.socketDirectoryLimit)
        }
    }

    /// The data directory of PostgreSQL, with its socket. Only the account of PostgreSQL and root can enter the directory.
    var cluster: String { "\(directory)/\(name)" }
    var lock: String { "\(directory)/lock" }
    let logName = "server.log"
    var log: String { "\(cluster)/\(logName)" }
    var pidFile: String { "\(cluster)/postmaster.pid" }
    /// A new name for each try of initdb or of a restore: a killed program leaves its initdb running, which must not meet the next try.
    var newUnfinishedCluster: String { "\(directory)/\(Self.unfinishedPrefix).\(UUID().uuidString)" }
    static let unfinishedPrefix = "cluster.unfinished"

    /// What earlier tries left.
    var unfinishedClusters: [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.filter { $0.hasPrefix(Self.unfinishedPrefix) }.map { "\(directory)/\($0)" }
    }

    /// The place where an upgrade keeps the old cluster. Before, it makes the new one there: then one step exchanges the two.
    func kept(version: Int) -> Layout {
        var layout = self
        layout.name = "cluster.\(version)"
        return layout
    }

    /// Is there while an upgrade makes the cluster, and after it was killed.
    var unfinishedMark: String { "\(cluster).unfinished" }

    /// A keyword string, with the path quoted as libpq wants it.
    var url: String {
        let path = cluster.replacing("\\", with: "\\\\").replacing("'", with: "\\'")
        return "host='\(path)' user=\(superuser) dbname=postgres"
    }

    /// The major version of PostgreSQL that made the cluster; nil before initdb.
    var clusterVersion: Int? { Self.version(of: cluster) }

    static func version(of cluster: String) -> Int? {
        let text = try? String(contentsOfFile: "\(cluster)/PG_VERSION", encoding: .utf8)
        return text.flatMap { Int($0.trimmingCharacters(in: .whitespacesAndNewlines)) }
    }
}

/// The reason why an embedded cluster cannot start. Each description has a hint.
public enum EmbeddedPostgresError: Error, Hashable, CustomStringConvertible {
    case noPrograms(wanted: Int?, lookedIn: [String])
    /// Another process uses the directory; `byProcess` is nil if that process is unknown.
    case inUse(directory: String, byProcess: Int32?)
    /// The process runs as root, and the system has no account for the cluster.
    case noPostgresAccount
    case notReachable(directory: String, account: String)
    case socketPathTooLong(path: String, limit: Int)
    case stopsSlowly(seconds: Int)
    case failed(program: String, output: String)
    case fileSystem(doing: String, path: String, reason: String)

    public var description: String {
        switch self {
        case .noPrograms(nil, let places):
            "No PostgreSQL \(PostgresInstallation.oldestMajorVersion) or later found (in \(places.joined(separator: ", "))). "
                + "Install it (Debian: apt-get install postgresql), or name its bin directory in HUMON_POSTGRES_BIN."
        case .noPrograms(let wanted?, let places):
            "The cluster was made by PostgreSQL \(wanted), which is not found (in \(places.joined(separator: ", "))). "
                + "Install postgresql-\(wanted), or name its bin directory in HUMON_POSTGRES_BIN."
        case .inUse(let directory, let process):
            "Another humon\(process.map { " (process \($0))" } ?? "") is running on \(directory). "
                + "Stop it, or choose another directory in HUMON_DATA."
        case .noPostgresAccount:
            "PostgreSQL refuses to run as root and there is no account postgres to run it as. "
                + "Install the package postgresql, which brings it, or start humon as an ordinary user."
        case .notReachable(let directory, let account):
            "The account \(account), which PostgreSQL runs as, cannot reach \(directory). Choose another directory in HUMON_DATA."
        case .socketPathTooLong(let path, let limit):
            "The path of the Unix socket, \(path), is longer than \(limit) bytes. Choose a shorter directory in HUMON_DATA."
        case .stopsSlowly(let seconds):
            "PostgreSQL has been stopping for \(seconds) s: it waits for the programs that are connected to it. End them, then try again."
        case .failed(let program, let output): "\(program) failed: \(output)"
        case .fileSystem(let doing, let path, let reason): "Cannot \(doing) \(path): \(reason)"
        }
    }
}

/// The reason why an embedded cluster cannot start. Each description has a hint, in which a program may name its settings:
/// ``description(directory:programs:)``.
public enum EmbeddedPostgresError: Error, Hashable, CustomStringConvertible {
    case noPrograms(wanted: Int?, lookedIn: [String])
    /// Another process uses the directory; `byProcess` is nil if that process is unknown.
    case inUse(directory: String, byProcess: Int32?)
    /// The process runs as root, and the system has no account for the cluster.
    case noPostgresAccount
    case notReachable(directory: String, account: String)
    /// The process runs as root, and the directory belongs to this account.
    case ofAnother(directory: String, account: String)
    case socketPathTooLong(path: String, limit: Int)
    /// The path has a comma or a line break.
    case unusablePath(path: String)
    case stopsSlowly(seconds: Int)
    /// A backup goes into a directory without a cluster only.
    case hasCluster(directory: String)
    /// It is damaged or no backup, or the disk has no room for it.
    case unusableBackup(reason: String)
    /// No installed PostgreSQL is newer than the cluster, which is of version `than`; `newest` is the directory of the newest one.
    case nothingNewer(than: Int, newest: String)
    /// The directory has no cluster to upgrade.
    case noCluster(directory: String)
    /// An earlier upgrade from the same version kept its old cluster there.
    case hasOldCluster(path: String)
    case noRoom(directory: String, neededBytes: Int64, freeBytes: Int64)
    /// A program failed in the middle of an upgrade. The cluster is the old one.
    case notUpgraded(reason: String)
    case failed(program: String, output: String)
    case fileSystem(doing: String, path: String, reason: String)

    public var description: String { description(directory: nil, programs: nil) }

    /// - Parameters:
    ///   - directory: the setting with ``EmbeddedCluster/Configuration/directory``, which the hint names
    ///   - programs: the setting with ``EmbeddedCluster/Configuration/programs``
    public func description(directory setting: String?, programs: String?) -> String {
        let inSetting = setting.map { " in \($0)" } ?? ""
        let orName = "or name its bin directory\(programs.map { " in \($0)" } ?? "")."
        return switch self {
        case .noPrograms(nil, let places):
            "No PostgreSQL \(PostgresInstallation.oldestMajorVersion) or later found (in \(places.joined(separator: ", "))). "
                + "Install it (Debian: apt-get install postgresql), \(orName)"
        case .noPrograms(let wanted?, let places):
            "The cluster was made by PostgreSQL \(wanted), which is not found (in \(places.joined(separator: ", "))). "
                + "Install postgresql-\(wanted), \(orName)"
        case .inUse(let directory, let process):
            "Another program\(process.map { " (process \($0))" } ?? "") is running on \(directory). "
                + "Stop it, or choose another directory\(inSetting)."
        case .noPostgresAccount:
            "PostgreSQL refuses to run as root and there is no account postgres to run it as. "
                + "Install the package postgresql, which brings it, or start this program as an ordinary user."
        case .notReachable(let directory, let account):
            "The account \(account), which PostgreSQL runs as, cannot reach \(directory). "
                + "Choose another directory\(inSetting)."
        case .ofAnother(let directory, let account):
            "\(directory) belongs to the account \(account): type runuser -u \(account) -- before this command, "
                + "or choose another directory\(inSetting)."
        case .socketPathTooLong(let path, let limit):
            "The path of the Unix socket, \(path), is longer than \(limit) bytes. "
                + "Choose a shorter directory\(inSetting)."
        case .unusablePath(let path):
            "The path \(path) has a comma or a line break, which PostgreSQL cannot use. Choose another directory\(inSetting)."
        case .stopsSlowly(let seconds):
            "PostgreSQL has been stopping for \(seconds) s: it waits for the programs that are connected to it. End them, then try again."
        case .hasCluster(let directory):
            "The directory \(directory) has a PostgreSQL, which stays as it is. Choose another directory\(inSetting)."
        case .unusableBackup(let reason):
            "Nothing was restored: \(reason). If the disk is full, free space on it. Else the backup is damaged: use another one."
        case .nothingNewer(let version, let newest):
            "The cluster is of PostgreSQL \(version), and no newer one was found: the newest is in \(newest). "
                + "Install a newer one (Debian: postgresql-\(version + 1) or later), \(orName)"
        case .noCluster(let directory):
            "The directory \(directory) has no PostgreSQL to upgrade. Choose another directory\(inSetting)."
        case .hasOldCluster(let path):
            "\(path) has the PostgreSQL that an earlier upgrade kept. Remove it or move it away, then try again."
        case .noRoom(let directory, let needed, let free):
            "An upgrade copies the cluster. It needs \(needed >> 20) MB on the disk of \(directory), which has \(free >> 20) MB free. "
                + "Nothing was changed. Free space, then try again."
        case .notUpgraded(let reason):
            "Nothing was upgraded: \(reason). The old PostgreSQL is there and starts. "
                + "If the disk is full, free space on it; take the newest release of both versions; then try again."
        case .failed(let program, let output): "\(program) failed: \(output)"
        case .fileSystem(let doing, let path, let reason): "Cannot \(doing) \(path): \(reason)"
        }
    }
}

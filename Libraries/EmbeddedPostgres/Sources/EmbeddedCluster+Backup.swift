public import Foundation
public import Logging
internal import SystemPackage

extension EmbeddedCluster {
    /// Writes a backup of the cluster that runs in the directory: a compressed tar of `pg_basebackup`, with its WAL and its manifest.
    ///
    /// The caller must see to it that PostgreSQL keeps the WAL meanwhile, such as by a replication slot.
    /// - Parameter label: one line of at most 1,000 bytes, which PostgreSQL keeps in the file `backup_label` of the backup
    /// - Throws: ``EmbeddedPostgresError``; the file holds no backup then
    public static func backUp(_ configuration: Configuration, label: String, to file: FileHandle, logger: Logger) async throws {
        removeVariables()
        let layout = try Layout(directory: configuration.directory, superuser: configuration.superuser)
        let programs = try await PostgresInstallation.find(in: configuration.programs, majorVersion: layout.clusterVersion)
        let tools = try ClusterCommands(
            programs: programs, account: .toRunPostgres(in: layout.directory), layout: layout, settings: [:], logger: logger)
        let backup = try await tools.execute(
            programs.directory.appending("pg_basebackup"),
            [
                "--host", layout.cluster, "--username", layout.superuser, "--checkpoint", "fast", "--format", "tar",
                "--wal-method", "fetch", "--gzip", "--label", label, "--pgdata", "-",
            ], to: file)
        guard backup.succeeded else { throw EmbeddedPostgresError.failed(program: "pg_basebackup", output: backup.output) }
    }

    /// Makes the cluster of a directory without one from a backup of ``backUp(_:label:to:logger:)``, checks every file of it by the backup's
    /// manifest, and starts nothing. The next start recovers to the end of the backup.
    /// - Returns: the label
    /// - Throws: ``EmbeddedPostgresError``, such as ``EmbeddedPostgresError/hasCluster(directory:)`` and
    ///   ``EmbeddedPostgresError/unusableBackup(reason:)``. The directory then has what it had before, and the lock.
    public static func restore(
        _ configuration: Configuration, from file: FileHandle, logger: Logger
    ) async throws -> String {
        let layout = try Layout(directory: configuration.directory, superuser: configuration.superuser)
        let account = try Account.toRunPostgres(in: layout.directory)
        let lock = try take(layout)
        defer { lock.release() }
        var tools = try await ClusterCommands(
            programs: .find(in: configuration.programs, majorVersion: nil), account: account, layout: layout, settings: [:],
            logger: logger)
        try await tools.requireReachable(layout.directory)
        guard !FileManager.default.fileExists(atPath: layout.cluster) else {
            throw EmbeddedPostgresError.hasCluster(directory: layout.directory)
        }
        let unfinished = try await tools.makeUnfinished()
        do {
            let tar = try await tools.execute(
                "/bin/tar", ["--extract", "--gzip", "--no-same-owner", "--directory", unfinished], input: file)
            // On a full disk tar names every file.
            guard tar.succeeded else { throw EmbeddedPostgresError.unusableBackup(reason: String(tar.output.prefix(500))) }
            guard let version = Layout.version(of: unfinished) else {
                throw EmbeddedPostgresError.unusableBackup(reason: "the file holds no cluster of PostgreSQL")
            }
            tools.programs = try await .find(in: configuration.programs, majorVersion: version)
            let check = try await tools.execute(
                tools.programs.directory.appending("pg_verifybackup"), ["--quiet", "--exit-on-error", unfinished])
            guard check.succeeded else { throw EmbeddedPostgresError.unusableBackup(reason: check.output) }
            let lines = try String(contentsOfFile: "\(unfinished)/backup_label", encoding: .utf8).split(separator: "\n")
            let label = lines.first { $0.hasPrefix("LABEL: ") }?.dropFirst("LABEL: ".count)
            try Task.checkCancellation()
            try tools.install(unfinished)
            return label.map(String.init) ?? ""
        } catch {
            // In a task of its own, which no Ctrl-C cancels.
            await Task { [tools] in await tools.remove(unfinished) }.value
            throw error
        }
    }
}

internal import Foundation
public import Logging
internal import SystemPackage

extension EmbeddedCluster {
    /// The two clusters after an upgrade. The old one stays in its directory until its owner removes it.
    public struct Upgrade: Sendable, Hashable {
        public let version: Int
        public let bytes: Int64
        public let oldVersion: Int
        public let oldBytes: Int64
        public let oldDirectory: String
    }

    /// What an upgrade needs on the disk beside the copy: the catalogs and the WAL of a new cluster.
    private static let reserveBytes: Int64 = 128 << 20

    /// Copies a cluster that no program uses to a newer PostgreSQL with `pg_upgrade`: to the one of ``Configuration/programs``, or to the
    /// newest one.
    ///
    /// The new cluster is made beside the old one, starts once, and gets its statistics. Then the two exchange their names in one step:
    /// at every moment, also after a crash, the directory has a cluster that starts. The old one stays as it was, with the settings of
    /// its `postgresql.conf`, which the new one does not get. What a killed upgrade left, the next one removes.
    /// - Parameter oldPrograms: the directory of the old version's programs; nil: one of the usual directories or of `PATH`
    /// - Throws: ``EmbeddedPostgresError``, `CancellationError`
    public static func upgrade(
        _ configuration: Configuration, oldPrograms: String? = nil, logger: Logger
    ) async throws -> Upgrade {
        removeVariables()
        let layout = try Layout(directory: configuration.directory, superuser: configuration.superuser)
        let account = try Account.toRunPostgres(in: layout.directory)
        guard let version = layout.clusterVersion else { throw EmbeddedPostgresError.noCluster(directory: layout.directory) }
        let lock = try take(layout)
        defer { lock.release() }
        let programs = try await PostgresInstallation.find(in: configuration.programs, majorVersion: nil)
        guard programs.majorVersion > version else {
            throw EmbeddedPostgresError.nothingNewer(than: version, newest: programs.directory.string)
        }
        let old = try await ClusterCommands(
            programs: .find(in: oldPrograms, majorVersion: version), account: account, layout: layout, settings: [:],
            logger: logger)
        try await old.requireReachable(layout.directory)
        // A program that was killed, or that let go of the lock, may have left PostgreSQL to others.
        guard try await !ClusterCommands.isReady(layout, logger: logger) else {
            throw EmbeddedPostgresError.inUse(directory: layout.directory, byProcess: Postmaster(of: layout)?.process)
        }
        let kept = layout.kept(version: version)
        // pg_upgrade does not quote this path. That of the cluster may have any character, or be too long for its longer port.
        let sockets = "/tmp/pg_upgrade.\(UUID().uuidString)"
        let new = ClusterCommands(
            programs: programs, account: account, layout: kept, settings: ["unix_socket_directories": sockets], logger: logger)
        await new.removeUnfinished(from: version)
        guard !FileManager.default.fileExists(atPath: kept.cluster) else {
            throw EmbeddedPostgresError.hasOldCluster(path: kept.cluster)
        }
        let (oldBytes, free) = (try await old.bytes(), SystemCalls.freeBytes(in: layout.directory) ?? .max)
        guard free >= oldBytes + reserveBytes else {
            throw EmbeddedPostgresError.noRoom(
                directory: layout.directory, neededBytes: oldBytes + reserveBytes, freeBytes: free)
        }
        logger.notice("upgrading PostgreSQL", metadata: ["from": "\(version)", "to": "\(programs.majorVersion)"])
        let bytes: Int64
        do { bytes = try await new.replace(old, sockets: sockets) } catch {
            // In a task of its own, which no Ctrl-C cancels. A pg_upgrade that was killed left PostgreSQL running.
            await Task {
                try? await old.stop()
                await new.removeUnfinished(from: version)
                await new.remove(sockets)
            }.value
            guard case EmbeddedPostgresError.failed(let program, let output) = error else { throw error }
            throw EmbeddedPostgresError.notUpgraded(reason: "\(program) failed: \(output)")
        }
        await new.remove(sockets)
        try? FileManager.default.removeItem(atPath: kept.unfinishedMark)
        guard (try? FileHandle(forReadingFrom: URL(fileURLWithPath: layout.directory)).synchronize()) != nil else {
            throw EmbeddedPostgresError.fileSystem(doing: "write", path: layout.directory, reason: SystemCalls.reason)
        }
        return Upgrade(
            version: programs.majorVersion, bytes: bytes, oldVersion: version, oldBytes: oldBytes, oldDirectory: kept.cluster)
    }
}

extension ClusterCommands {
    /// Stops and removes a cluster that an upgrade from a version did not end, but never the old cluster, which may be in its place.
    fileprivate func removeUnfinished(from version: Int) async {
        guard FileManager.default.fileExists(atPath: layout.unfinishedMark) else { return }
        if layout.clusterVersion != version {
            try? await stop()
            await remove(layout.cluster)
        }
        try? FileManager.default.removeItem(atPath: layout.unfinishedMark)
    }

    /// The bytes that the cluster has on the disk.
    fileprivate func bytes() async throws -> Int64 {
        let size = try await execute(FilePath("/usr/bin/du"), ["-sk", "."], in: layout.cluster)
        guard let kilobytes = Int64(size.output.prefix { $0.isNumber }) else {
            throw EmbeddedPostgresError.failed(program: "du", output: size.output)
        }
        return kilobytes << 10
    }

    /// Makes a cluster of an old one, and puts it in the old one's place.
    /// - Parameter sockets: a directory to make
    /// - Returns: the bytes of the new cluster
    fileprivate func replace(_ old: ClusterCommands, sockets: String) async throws -> Int64 {
        // pg_upgrade takes a cluster only if it was stopped, and not after a crash.
        try await old.start()
        try await old.stop()
        guard FileManager.default.createFile(atPath: layout.unfinishedMark, contents: nil) else {
            throw EmbeddedPostgresError.fileSystem(doing: "create", path: layout.unfinishedMark, reason: SystemCalls.reason)
        }
        try makeDirectory(layout.cluster)
        try makeDirectory(sockets)
        try await initialise(layout.cluster)
        // pg_upgrade passes paths through shells, in double quotes, so the paths of both clusters are relative.
        let upgrade = try await execute(
            programs.directory.appending("pg_upgrade"),
            [
                "--old-bindir", old.programs.directory.string, "--new-bindir", programs.directory.string,
                "--old-datadir", "../cluster", "--new-datadir", ".", "--socketdir", sockets, "--username", layout.superuser,
                "--old-port", Postmaster.portOfUpgrade, "--new-port", Postmaster.portOfUpgrade,
            ], in: layout.cluster)
        guard upgrade.succeeded else {
            // pg_upgrade often says no more than which of its files has the reason.
            let script = "find pg_upgrade_output.d -path '*/dump' -prune -o -type f -size +0 -exec tail -n 3 {} +"
            let logs = try await execute(FilePath("/bin/sh"), ["-c", script], in: layout.cluster)
            throw EmbeddedPostgresError.failed(
                program: "pg_upgrade", output: "\(upgrade.output.suffix(300)) \(logs.output.suffix(2_000))")
        }
        // This script removes `../cluster`, which soon is the new cluster.
        await remove("\(layout.cluster)/delete_old_cluster.sh")
        // A proof that the new cluster starts. Before version 18 pg_upgrade takes over no statistics, without which PostgreSQL plans badly.
        try await start()
        try await run(
            "vacuumdb", "--host", sockets, "--username", layout.superuser, "--all", "--analyze-only", "--quiet")
        try await stop()
        let bytes = try await bytes()
        try Task.checkCancellation()
        guard SystemCalls.exchange(layout.cluster, with: old.layout.cluster) == 0 else {
            throw EmbeddedPostgresError.fileSystem(
                doing: "exchange \(layout.cluster) and", path: old.layout.cluster, reason: SystemCalls.reason)
        }
        return bytes
    }
}

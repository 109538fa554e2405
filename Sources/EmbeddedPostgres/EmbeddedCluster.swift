internal import Foundation
public import Logging
public import ServiceLifecycle
internal import Subprocess
internal import SystemPackage

/// A private PostgreSQL cluster in a directory of its own. Only a Unix socket in that directory leads to it.
///
/// The process that started it holds a lock on the directory until ``stop()``. If a killed process left a cluster running, the
/// next start stops it and starts it again.
public final class EmbeddedCluster: Service {
    /// How often is looked whether PostgreSQL is alive.
    private static let watchIntervalSeconds = 0.5

    public struct Configuration: Sendable {
        /// Holds the cluster, its socket and the lock.
        public var directory: String
        /// Where PostgreSQL's programs are; nil: they are looked for.
        public var programs: String?
        /// Lines of `postgresql.conf` beyond the cluster's own.
        public var settings: [String: String] = [:]

        public init(directory: String, programs: String? = nil) {
            self.directory = directory
            self.programs = programs
        }
    }

    private let layout: Layout
    private let tools: ClusterCommands
    private let lock: DirectoryLock
    private let logger: Logger

    private init(layout: Layout, tools: ClusterCommands, lock: DirectoryLock, logger: Logger) {
        self.layout = layout
        self.tools = tools
        self.lock = lock
        self.logger = logger
    }

    /// What libpq connects with, as the cluster's superuser.
    public var url: String { layout.url }

    /// The log that PostgreSQL writes.
    public var logPath: String { layout.log }

    /// Creates the cluster if there is none, and starts it.
    /// - Throws: ``EmbeddedPostgresError``
    public static func start(_ configuration: Configuration, logger: Logger) async throws -> EmbeddedCluster {
        let layout = try Layout(directory: configuration.directory)
        let account = try Account.toRunPostgres()
        try layout.createDirectory()
        let lock = try await DirectoryLock.take(layout.lock, in: layout.directory)
        let programs = try await PostgresInstallation.find(in: configuration.programs, majorVersion: layout.clusterVersion)
        let tools = ClusterCommands(programs: programs, account: account, layout: layout)
        let cluster = EmbeddedCluster(layout: layout, tools: tools, lock: lock, logger: logger)
        try await cluster.start(configuration.settings)
        return cluster
    }

    /// The URL of a cluster that another process runs in the directory; nil when none does.
    /// - Throws: ``EmbeddedPostgresError/socketPathTooLong(path:limit:)``
    public static func urlOfRunning(in directory: String) async throws -> String? {
        let layout = try Layout(directory: directory)
        return await DirectoryLock.isHeld(layout.lock, in: layout.directory) ? layout.url : nil
    }

    /// Whether a cluster was ever created in the directory.
    /// - Throws: ``EmbeddedPostgresError/socketPathTooLong(path:limit:)``
    public static func exists(in directory: String) throws -> Bool { try Layout(directory: directory).clusterVersion != nil }

    private func start(_ settings: [String: String]) async throws {
        try layout.makeSocketDirectory(for: tools.account)
        try await tools.requireReachable(layout.directory)
        if layout.clusterVersion == nil {
            logger.notice("creating a private PostgreSQL cluster", metadata: ["directory": "\(layout.cluster)"])
            try await tools.initialise()
        }
        try layout.removeEmptyPidFile()
        if try await tools.isRunning() {
            logger.notice("stopping a PostgreSQL that an earlier run left behind")
            try await tools.stop()
        }
        try layout.write(settings: settings, account: tools.account)
        try await tools.start()
    }

    /// Starts PostgreSQL again whenever it has died, until the task is cancelled or the service group shuts down.
    public func run() async {
        await cancelWhenGracefulShutdown { [self] in
            while (try? await Task.sleep(for: .seconds(Self.watchIntervalSeconds))) != nil {
                guard !layout.isPostmasterAlive else { continue }
                logger.error("PostgreSQL has died; starting it again", metadata: ["log": "\(layout.log)"])
                do { try await tools.start() } catch {
                    logger.error("PostgreSQL does not start", metadata: ["error": "\(error)"])
                }
            }
        }
    }

    /// Stops PostgreSQL, waits for it, and lets go of the directory.
    /// - Throws: ``EmbeddedPostgresError``; the directory is free all the same
    public func stop() async throws {
        defer { lock.release() }
        try await tools.stop()
    }

    /// Kills PostgreSQL without a checkpoint and releases the directory, without suspension: for clusters that will not start
    /// again.
    public func abandon() {
        if let process = layout.postmaster, !layout.isPostmasterOfAnother { kill(process, SIGQUIT) }
        lock.release()
    }
}

internal import Foundation
public import Logging
public import ServiceLifecycle
internal import Subprocess
internal import SystemPackage

/// A private PostgreSQL cluster in a directory of its own. Only a Unix socket in that directory leads to it.
///
/// The process that started it holds a lock on the directory until ``stop()`` or ``leave()``. If another process left PostgreSQL
/// running, the next start takes it over as it is, because other programs may use it.
///
/// The environment variables of PostgreSQL, whose names begin with `PG`, are for servers elsewhere. ``start(_:logger:)`` and
/// ``urlOfRunning(_:logger:)`` take them out of this process: libpq would use `PGHOSTADDR`, `PGSERVICE` and others beside ``url``, a service
/// cannot be undone there, and a server listens at `PGPORT`.
public struct EmbeddedCluster: Service {
    /// How often is looked whether PostgreSQL is alive.
    private static let watchIntervalSeconds = 0.5

    public struct Configuration: Sendable {
        /// Holds the cluster, its socket and the lock.
        public var directory: String
        /// Where PostgreSQL's programs are; nil: they are looked for.
        public var programs: String?
        /// The superuser of a new cluster, which ``EmbeddedCluster/url`` names. It must stay the same.
        public var superuser = "postgres"
        /// Settings of PostgreSQL beyond the cluster's own, from its next start on.
        public var settings: [String: String] = [:]

        public init(directory: String, programs: String? = nil) {
            self.directory = directory
            self.programs = programs
        }
    }

    /// Whether PostgreSQL ran already when this process took the directory.
    public let isTakenOver: Bool
    private let tools: ClusterCommands
    private let lock: DirectoryLock

    /// What libpq connects with, as the cluster's superuser.
    public var url: String { tools.layout.url }

    /// Creates the cluster if there is none, and starts it, unless it runs already. Waits for as long as PostgreSQL recovers from a crash.
    /// - Throws: ``EmbeddedPostgresError``
    public static func start(_ configuration: Configuration, logger: Logger) async throws -> EmbeddedCluster {
        removeVariables()
        let layout = try Layout(directory: configuration.directory, superuser: configuration.superuser)
        let account = try Account.toRunPostgres(in: layout.directory)
        let lock = try take(layout)
        let programs = try await PostgresInstallation.find(in: configuration.programs, majorVersion: layout.clusterVersion)
        let tools = ClusterCommands(
            programs: programs, account: account, layout: layout, settings: configuration.settings, logger: logger)
        return EmbeddedCluster(isTakenOver: try await start(tools), tools: tools, lock: lock)
    }

    /// The URL of a cluster that runs in the directory, whether or not the process that started it lives; nil when none runs. Waits for
    /// as long as such a cluster recovers from a crash.
    /// - Throws: ``EmbeddedPostgresError``, or `CancellationError`
    public static func urlOfRunning(_ configuration: Configuration, logger: Logger) async throws -> String? {
        removeVariables()
        let layout = try Layout(directory: configuration.directory, superuser: configuration.superuser)
        if DirectoryLock.isHeld(layout.lock) { return layout.url }
        return try await ClusterCommands.isReady(layout, logger: logger) ? layout.url : nil
    }

    /// Whether a cluster was ever created in the directory.
    /// - Throws: ``EmbeddedPostgresError/socketPathTooLong(path:limit:)``, ``EmbeddedPostgresError/unusablePath(path:)``
    public static func exists(_ configuration: Configuration) throws -> Bool {
        try Layout(directory: configuration.directory, superuser: configuration.superuser).clusterVersion != nil
    }

    /// Makes the directory if it is missing, and takes its lock.
    static func take(_ layout: Layout) throws -> DirectoryLock {
        do {
            try FileManager.default.createDirectory(atPath: layout.directory, withIntermediateDirectories: true)
        } catch {
            throw EmbeddedPostgresError.fileSystem(
                doing: "create", path: layout.directory, reason: "\(error.localizedDescription)")
        }
        return try DirectoryLock.take(layout.lock, in: layout.directory)
    }

    static func removeVariables() {
        for name in ProcessInfo.processInfo.environment.keys where name.hasPrefix("PG") { SystemCalls.removeVariable(name) }
    }

    /// - Returns: whether PostgreSQL ran already
    private static func start(_ tools: ClusterCommands) async throws -> Bool {
        let (layout, logger) = (tools.layout, tools.logger)
        try await tools.requireReachable(layout.directory)
        if layout.clusterVersion == nil {
            logger.notice("creating a private PostgreSQL cluster", metadata: ["directory": "\(layout.cluster)"])
            try await tools.initialise()
        }
        guard try await ClusterCommands.isReady(layout, logger: logger) else {
            try await tools.start()
            return false
        }
        logger.notice("taking over the PostgreSQL that an earlier run left running")
        return true
    }

    /// Starts PostgreSQL again whenever it has died, until the task is cancelled or the service group shuts down.
    public func run() async {
        await cancelWhenGracefulShutdown {
            while (try? await Task.sleep(for: .seconds(Self.watchIntervalSeconds))) != nil {
                guard !tools.isPostmasterAlive else { continue }
                tools.logger.error("PostgreSQL has died; starting it again", metadata: ["log": "\(tools.layout.log)"])
                do { try await tools.start() } catch {
                    tools.logger.error("PostgreSQL does not start", metadata: ["error": "\(error)"])
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

    /// Lets go of the directory. PostgreSQL goes on, and the next start in the directory takes it over.
    public func leave() { lock.release() }
}

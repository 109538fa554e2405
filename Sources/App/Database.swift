internal import EmbeddedPostgres
internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres
internal import ServiceLifecycle

/// The database that a command uses: the one from `--database` or `DATABASE_URL`, or a private one.
struct Database: Sendable {
    /// How long a command that only reads may pause: `humon log export - | ssh …` waits for a password, or an operator presses Ctrl-Z.
    private static let pauseSeconds = 3_600.0

    let url: String
    /// The services that must run while the database is used: the monitor of the private cluster.
    let services: [any Service]
    let settings: Settings
    private let sessionName: String

    private init(url: String, services: [any Service], _ settings: Settings, _ use: Use) {
        self.url = url
        self.services = services
        self.settings = settings
        sessionName =
            switch use {
            case .serving: SessionName.ofServer(port: settings.port)
            case .creating, .existing: SessionName.ofCommand()
            }
    }

    /// The use that a command makes of the private cluster.
    enum Use: Sendable {
        /// The server looks after the cluster, which only one process at a time may do.
        case serving
        /// The command works beside other programs on the cluster, and creates a missing cluster.
        case creating
        /// The command works beside other programs on the cluster, and needs an existing cluster.
        case existing
    }

    /// Runs the body with the database. Without a URL, starts the private cluster if it does not run. Stops it after the body if this process
    /// looks after it and no other program uses it.
    /// - Throws: ``CommandFailure``, `CancellationError`, and the errors of the body
    static func with<Value: Sendable>(
        _ settings: Settings, _ use: Use, logger: Logger, _ body: (Database) async throws -> Value
    ) async throws -> Value {
        if let url = settings.databaseURL { return try await body(Database(url: url, services: [], settings, use)) }
        do { return try await withCluster(settings, use, logger: logger, body) } catch let error as EmbeddedPostgresError {
            throw CommandFailure(error)
        }
    }

    /// The same, with the private cluster.
    private static func withCluster<Value: Sendable>(
        _ settings: Settings, _ use: Use, logger: Logger, _ body: (Database) async throws -> Value
    ) async throws -> Value {
        var configuration = settings.cluster
        if use != .serving, let url = try await EmbeddedCluster.urlOfRunning(configuration, logger: logger) {
            return try await body(Database(url: url, services: [], settings, use))
        }
        if case .existing = use, try !EmbeddedCluster.exists(configuration) {
            throw CommandFailure(
                "The directory \(settings.data) has no database yet: start humon serve first, or name another database by --database, DATABASE_URL or HUMON_DATA."
            )
        }
        // Failed statements would fill the log file of the private cluster, which no operator reads.
        configuration.settings["log_min_error_statement"] = "panic"
        // The detail of a refused row names its values.
        configuration.settings["log_error_verbosity"] = "terse"
        let cluster: EmbeddedCluster
        do {
            // Start and stop run in tasks of their own, which Ctrl-C does not cancel: half a start or stop would leave a cluster running.
            cluster = try await Task { [configuration] in
                try await EmbeddedCluster.start(configuration, logger: logger)
            }.value
        } catch EmbeddedPostgresError.inUse where use != .serving {
            // Another command was faster.
            return try await withCluster(settings, use, logger: logger, body)
        }
        let result: Result<Value, any Error>
        do {
            try Task.checkCancellation()
            result = .success(try await body(Database(url: cluster.url, services: [cluster], settings, use)))
        } catch {
            result = .failure(error)
        }
        do { try await Task { try await cluster.end(after: use, logger: logger) }.value } catch {
            // An error of the body is more important.
            _ = try result.get()
            throw error
        }
        return try result.get()
    }

    /// No session resolves a name in a schema where another role may create objects: `"$user"` and `public` are not searched.
    private static let fixedSearchPath = ["search_path": "pg_catalog, pg_temp"]

    /// A configuration with the rights of the URL's user, for migrations.
    var asOwner: PostgresConfiguration {
        var configuration = PostgresConfiguration(url: url)
        configuration.applicationName = sessionName
        configuration.connections = 1
        configuration.isPooled = settings.isDatabasePooled
        configuration.sessionSettings = Self.fixedSearchPath
        configuration.statementTimeoutSeconds = Double(settings.statementTimeoutSeconds)
        configuration.acquireTimeoutSeconds = Double(configuration.connectTimeoutSeconds)
        return configuration
    }

    /// A configuration with the rights of the application.
    func asApplication(connections: Int) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(url: url)
        configuration.applicationName = sessionName
        configuration.connections = connections
        configuration.isPooled = settings.isDatabasePooled
        configuration.statementTimeoutSeconds = Double(settings.statementTimeoutSeconds)
        configuration.role = LogRights.applicationRole
        // Every statement of the API has an index. A plan made while a table was small must not outlive its growth.
        configuration.sessionSettings = Self.fixedSearchPath.merging(["enable_seqscan": "off"]) { $1 }
        return configuration
    }

    /// A configuration with the rights of the reading role, for commands that only read. Its transactions refuse to write.
    func asReader(connections: Int) -> PostgresConfiguration {
        var configuration = asApplication(connections: connections)
        configuration.role = LogRights.readerRole
        configuration.sessionSettings["default_transaction_read_only"] = "on"
        configuration.pauseSeconds = Self.pauseSeconds
        return configuration
    }

    /// A configuration for the requests that a server serves. PostgreSQL plans each statement once a session, and again when it has new
    /// statistics: docs/decisions/0062-one-writer.md
    func asServer(connections: Int) -> PostgresConfiguration {
        var configuration = asApplication(connections: connections)
        configuration.sessionSettings["plan_cache_mode"] = "force_generic_plan"
        return configuration
    }

    /// A configuration with one connection, for the writer.
    var asWriter: PostgresConfiguration {
        var configuration = asApplication(connections: 1)
        configuration.sessionSettings.merge(EventLog.sessionSettings) { $1 }
        configuration.sendBufferBytes = EventLog.sendBufferBytes
        // The limit of a statement is longer, so the error says that a lock was missing.
        let lockMilliseconds = Int(configuration.statementTimeoutSeconds * 900)
        configuration.sessionSettings["lock_timeout"] = String(lockMilliseconds)
        configuration.transactionTimeoutSeconds = 60
        return configuration
    }

    /// Whether migrations are missing. Needs no right to migrate. Returns `false` after an error of PostgreSQL, because the command itself
    /// will meet that error.
    /// - Throws: `CancellationError`
    func lacksMigrations(logger: Logger) async throws -> Bool {
        do {
            return try await withPostgres(asOwner, logger: logger) { client in
                try await !LogSchema(projections: Backend.projections, client: client).pending().isEmpty
            }
        } catch is PostgresError {
            return false
        }
    }

    /// Applies missing migrations.
    /// - Parameter isTrial: whether to apply none
    /// - Throws: ``CommandFailure`` if migrations are missing and must not be applied, or the user may not; `PostgresError`
    func migrate(isTrial: Bool = false, logger: Logger) async throws {
        try await usingAsOwner(logger: logger) { client in
            let schema = LogSchema(projections: Backend.projections, client: client)
            guard settings.migrates, !isTrial else {
                let pending = try await schema.pending()
                guard pending.isEmpty else {
                    throw CommandFailure(
                        "The database lacks migrations (\(pending.joined(separator: ", "))): run humon migrate, or set HUMON_MIGRATE=true."
                    )
                }
                return
            }
            for name in try await schema.migrate() {
                logger.notice("migration applied", metadata: ["name": "\(name)"])
            }
        }
    }
}

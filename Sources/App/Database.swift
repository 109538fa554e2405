internal import EmbeddedPostgres
internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres
internal import ServiceLifecycle

/// The database that a command works on: the one that `DATABASE_URL` names, or a private one.
struct Database: Sendable {
    /// The role whose rights the application has; `db/grants.sql` makes it.
    private static let applicationRole = "humon_app"
    /// The role of those who only look; made there too.
    static let readerRole = "humon_reader"

    let url: String
    /// What must run for as long as the database is used: the private cluster's notifier.
    let services: [any Service]
    private let settings: Settings

    /// Whether a command needs the private cluster to itself.
    enum Use: Sendable {
        /// For as long as it runs; there is one of them a directory.
        case asServer
        /// Beside a server, if one runs.
        case asVisitor
        /// The same, for commands that make no sense on an empty database.
        case asVisitorOfExisting
    }

    /// Starts the private cluster where there is no `DATABASE_URL`, and stops it after the body.
    static func with<Value: Sendable>(
        _ settings: Settings, _ use: Use, logger: Logger, _ body: (Database) async throws -> Value
    ) async throws -> Value {
        if let url = settings.databaseURL { return try await body(Database(url: url, services: [], settings: settings)) }
        switch use {
        case .asServer: break
        case .asVisitor, .asVisitorOfExisting:
            if let url = try await EmbeddedCluster.urlOfRunning(in: settings.data) {
                return try await body(Database(url: url, services: [], settings: settings))
            }
        }
        if case .asVisitorOfExisting = use, try !EmbeddedCluster.exists(in: settings.data) {
            throw NoDatabase(directory: settings.data)
        }
        var configuration = EmbeddedCluster.Configuration(directory: settings.data, programs: settings.postgresPrograms)
        // What failed statements were is for the operator of a real server; here it would only fill a file.
        configuration.settings["log_min_error_statement"] = "panic"
        // In tasks of their own, which Ctrl-C does not cancel: a start or stop that is cut short leaves a cluster running.
        let cluster = try await Task { [configuration] in try await EmbeddedCluster.start(configuration, logger: logger) }.value
        let result: Result<Value, any Error>
        do {
            try Task.checkCancellation()
            result = .success(try await body(Database(url: cluster.url, services: [cluster], settings: settings)))
        } catch {
            result = .failure(error)
        }
        do { try await Task { try await cluster.stop() }.value } catch {
            // What the body failed with comes first.
            _ = try result.get()
            throw error
        }
        return try result.get()
    }

    /// With the rights of the URL's user: for migrations.
    var asOwner: PostgresConfiguration {
        var configuration = PostgresConfiguration(url: url)
        configuration.connections = 1
        configuration.isPooled = settings.isDatabasePooled
        configuration.statementTimeoutSeconds = Double(settings.statementTimeoutSeconds)
        configuration.acquireTimeoutSeconds = Double(configuration.connectTimeoutSeconds)
        return configuration
    }

    /// With the rights of the application: for everything else.
    func asApplication(connections: Int) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(url: url)
        configuration.connections = connections
        configuration.isPooled = settings.isDatabasePooled
        configuration.statementTimeoutSeconds = Double(settings.statementTimeoutSeconds)
        configuration.role = Self.applicationRole
        // Every statement of the API has an index. A plan made while a table was small must not outlive its growth.
        configuration.sessionSettings = ["enable_seqscan": "off"]
        return configuration
    }

    /// With the rights of those who only look, in transactions that refuse to write: for what an operator looks at.
    func asReader(connections: Int) -> PostgresConfiguration {
        var configuration = asApplication(connections: connections)
        configuration.role = Self.readerRole
        configuration.sessionSettings["default_transaction_read_only"] = "on"
        return configuration
    }

    /// With one connection, for the writer alone.
    var asWriter: PostgresConfiguration {
        var configuration = asApplication(connections: 1)
        // While one batch asks under the lock what became of it, the other waits for as long as that may take.
        configuration.leasedTimeoutSeconds = configuration.statementTimeoutSeconds + 1
        return configuration
    }

    /// Asked without the rights that migrating takes. What else is wrong with the database whoever works on it will find.
    func lacksMigrations(logger: Logger) async throws -> Bool {
        do {
            return try await withPostgres(asOwner, logger: logger) { client in
                try await !Migrator(client: client).pending().isEmpty
            }
        } catch is PostgresError {
            return false
        }
    }

    /// Applies what is missing, or refuses to go on without it.
    func migrate(logger: Logger) async throws {
        try await withPostgres(asOwner, logger: logger) { client in
            let migrator = Migrator(client: client)
            guard settings.migrates else {
                let pending = try await migrator.pending()
                guard pending.isEmpty else { throw PendingMigrationsError(names: pending) }
                return
            }
            for name in try await migrator.migrate() { logger.notice("migration applied", metadata: ["name": "\(name)"]) }
        }
    }
}

struct NoDatabase: Error, CustomStringConvertible {
    var directory: String
    var description: String {
        "There is no database in \(directory) yet: start humon serve first, or name another one in DATABASE_URL or HUMON_DATA."
    }
}

struct PendingMigrationsError: Error, CustomStringConvertible {
    var names: [String]
    var description: String {
        "The database lacks migrations (\(names.joined(separator: ", "))): run humon migrate, or set HUMON_MIGRATE=true."
    }
}

internal import ArgumentParser
internal import Logging
internal import Postgres

/// The database of a command. Every command that uses the database has this option.
struct DatabaseOptions: ParsableArguments {
    @Option(
        name: .customLong("database"),
        help: ArgumentHelp(
            "Use this database instead of DATABASE_URL. Every user of this machine can read a command line, so keep a password in DATABASE_URL, DATABASE_URL_FILE or ~/.pgpass.",
            valueName: "url"), transform: Parameter.text)
    var url: String?

    /// The settings, with the database of the command line.
    /// - Throws: ``SettingsError``
    func settings() throws(SettingsError) -> Settings { try Settings.load(database: url) }

    /// Runs the body with the database, and starts the private cluster for it if necessary.
    /// - Throws: ``SettingsError``, ``CommandFailure``, and the errors of the body
    func with<Value: Sendable>(
        _ use: Database.Use, _ body: (Database, Logger) async throws -> Value
    ) async throws -> Value {
        let settings = try settings()
        let logger = Logger.humon(settings.logLevel)
        return try await Database.with(settings, use, logger: logger) { try await body($0, logger) }
    }

    /// Runs the body with the existing database, with the rights of the role that may only read, and with a low priority.
    /// - Throws: ``CommandFailure``, the errors of ``with(_:_:)``, and the errors of the body
    func reading<Value: Sendable>(
        connections: Int, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        try await with(.existing) { database, logger in
            BackgroundPriority.take()
            return try await database.using(database.asReader(connections: connections).inBackground, logger: logger, body)
        }
    }
}

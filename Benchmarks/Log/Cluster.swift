internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres

/// The PostgreSQL of all measurements.
struct Cluster: Sendable {
    let url: String
    /// The directory for scripts and logs of pgbench.
    let directory: String

    /// - Parameter migrated: whether the database gets the log
    func createDatabase(_ name: String, migrated: Bool) async throws -> Database {
        try await Database(url: url).administer { client in
            _ = try await client.query("CREATE DATABASE \(identifier: name) TEMPLATE template0")
        }
        let database = Database(url: "\(url) dbname=\(name)")
        if migrated {
            try await database.administer { client in _ = try await LogSchema(projections: [], client: client).migrate() }
        }
        return database
    }

    /// The settings of the measurements, as a sentence.
    func conditions(seconds: Int) async throws -> String {
        try await Database(url: url).administer { client in
            let version = try await client.query("SELECT current_setting('server_version')").decode(String.self)[0]
            let settings = try await client.query(
                """
                SELECT name || ' ' || current_setting(name) FROM pg_settings
                WHERE name IN ('fsync', 'synchronous_commit', 'full_page_writes', 'wal_sync_method', 'shared_buffers', 'max_wal_size')
                ORDER BY name
                """
            ).decode(String.self)
            let cores = ProcessInfo.processInfo.activeProcessorCount
            return """
                PostgreSQL \(version), \(cores) cores, \(seconds) s a measurement; \(settings.joined(separator: ", ")).
                Events of \(BenchmarkEvent.bytes) bytes: data and metadata together, as stored; the row's other columns come on top.
                """
        }
    }
}

/// One database of the cluster.
struct Database: Sendable {
    let url: String

    /// A client as the superuser, who owns all tables.
    func administer<Value: Sendable>(_ body: @Sendable (PostgresClient) async throws -> Value) async throws -> Value {
        var configuration = PostgresConfiguration(url: url)
        configuration.connections = 1
        configuration.statementTimeoutSeconds = 3_600
        configuration.acquireTimeoutSeconds = 30
        return try await withPostgres(configuration, logger: .quiet, body)
    }

    /// A client like humon's writer: the application's role, with one or more new connections.
    func withWriter<Value: Sendable>(connections: Int = 1, _ body: @Sendable (PostgresClient) async throws -> Value) async throws
        -> Value
    {
        var configuration = PostgresConfiguration(url: url)
        configuration.role = "log_app"
        configuration.connections = connections
        configuration.acquireTimeoutSeconds = 30
        return try await withPostgres(configuration, logger: .quiet, body)
    }

    /// Writes the dirty pages of earlier measurements before the next one begins.
    func checkpoint() async throws { try await administer { client in _ = try await client.query("CHECKPOINT") } }
}

extension Logger {
    /// Drops all messages, because the benchmark throws errors.
    static let quiet = Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() }
}

/// Prints progress on standard error; standard output has the report.
func progress(_ text: String) {
    try? FileHandle.standardError.write(contentsOf: Data("\(text)\n".utf8))
}

import Postgres
import TestDatabase

/// As in production and unlike in other tests, fsync is on.
extension TestPostgres {
    static let humon = "humon"

    /// Starts a new cluster with a database for the servers.
    static func primary(in directory: String, settings: [String: String] = [:]) async throws -> TestPostgres {
        let postgres = try await TestPostgres(in: directory, settings: settings)
        try await postgres.administer { try await $0.query("CREATE DATABASE \(identifier: humon)") }
        return postgres
    }

    /// Connects directly, not through the proxy.
    @discardableResult
    nonisolated func withClient<Value: Sendable>(
        database: String = humon, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value { try await administer(database: database, body) }

    /// Kills all processes and starts the cluster again, which then recovers.
    func crash() async throws {
        try await kill()
        try await start()
    }

    /// The primary acknowledges a commit only when the standby has it, from now on.
    nonisolated func requireStandby() async throws {
        try await administer { client in
            try await client.query("ALTER SYSTEM SET synchronous_standby_names = '*'")
            try await client.query("SELECT pg_reload_conf()")
            try await wait(for: "a synchronous standby") {
                try await client.query("SELECT sync_state FROM pg_stat_replication").decode(String.self) == ["sync"]
            }
        }
    }
}

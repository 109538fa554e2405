internal import EmbeddedPostgres
internal import Logging
internal import Postgres

extension EmbeddedCluster {
    /// The sessions of this process may take a moment to end.
    private static let ownSessionsSeconds = 5.0
    private static let pauseSeconds = 0.02

    /// Stops PostgreSQL, or leaves it running: if another program is connected to it, such as a server with the URL of the cluster, or if
    /// it ran before a command that only visits it.
    /// - Throws: `EmbeddedPostgresError`
    func end(after use: Database.Use, logger: Logger) async throws {
        guard use == .serving || !isTakenOver else { return leave() }
        let users = await users()
        guard !users.isEmpty else { return try await stop() }
        logger.notice(
            "PostgreSQL goes on, because other programs use it; the next humon serve takes it over",
            metadata: ["programs": .array(users.map { "\($0)" })])
        leave()
    }

    /// The names of the programs that are connected to the cluster beside this process. Empty if PostgreSQL does not answer.
    private func users() async -> [String] {
        var configuration = PostgresConfiguration(url: url)
        (configuration.applicationName, configuration.connections, configuration.statementTimeoutSeconds) = ("humon", 1, 2)
        let users = try? await withPostgres(configuration, logger: .humon(.critical)) { client in
            let deadline = ContinuousClock.now + .seconds(Self.ownSessionsSeconds)
            while true {
                let users = try await client.query(
                    """
                    SELECT DISTINCT application_name FROM pg_stat_activity
                    WHERE backend_type IN ('client backend', 'walsender') AND pid <> pg_backend_pid() ORDER BY 1
                    """
                ).decode(String.self)
                guard !users.isEmpty, ContinuousClock.now < deadline else { return users }
                try await Task.sleep(for: .seconds(Self.pauseSeconds))
            }
        }
        return users ?? []
    }
}

internal import EmbeddedPostgres
internal import EventStore
internal import Foundation
public import Logging
internal import Postgres
internal import Synchronization

/// One PostgreSQL for all tests of a process, started by the first test that needs it and gone with the process.
actor TestCluster {
    static let shared = TestCluster()

    private static let template = "humon_template"
    private var starting: Task<EmbeddedCluster, any Error>?
    private var number = 0

    /// Creates a database and returns its name.
    func createDatabase(migrated: Bool) async throws -> (name: String, url: String) {
        let cluster = try await cluster()
        number += 1
        let name = "test_\(number)"
        try await Self.administer(cluster) { client in
            try await client.query(
                "CREATE DATABASE \(identifier: name) TEMPLATE \(identifier: migrated ? Self.template : "template0")")
            // A clone does not copy the privileges on the database.
            if migrated { try await client.query("GRANT CREATE ON DATABASE \(identifier: name) TO humon_app") }
        }
        return (name, Self.url(of: name, in: cluster))
    }

    func dropDatabase(_ name: String) async throws {
        try await Self.administer(try await cluster()) { client in
            try await client.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
        }
    }

    private func cluster() async throws -> EmbeddedCluster {
        let task = starting ?? Task { try await Self.start() }
        starting = task
        return try await task.value
    }

    private static func start() async throws -> EmbeddedCluster {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-tests-\(getpid())").path
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        // The data need not survive a crash, and many concurrent tests need many connections.
        configuration.settings = ["fsync": "off", "full_page_writes": "off", "max_connections": "500"]
        let cluster = try await EmbeddedCluster.start(configuration, logger: .quiet)
        leftovers.withLock { $0 = (cluster, directory) }
        atexit {
            guard let (cluster, directory) = leftovers.withLock({ $0 }) else { return }
            cluster.abandon()
            // PostgreSQL takes a moment to end, and writes until then.
            for _ in 0..<40 where FileManager.default.fileExists(atPath: directory) {
                usleep(50_000)
                try? FileManager.default.removeItem(atPath: directory)
            }
        }
        try await administer(cluster) { client in try await client.query("CREATE DATABASE \(identifier: template)") }
        try await withPostgres(PostgresConfiguration(url: url(of: template, in: cluster)), logger: .quiet) { client in
            _ = try await Migrator(client: client).migrate()
        }
        return cluster
    }

    private static func administer(
        _ cluster: EmbeddedCluster, _ body: @Sendable (PostgresClient) async throws -> Void
    ) async throws {
        var configuration = PostgresConfiguration(url: cluster.url)
        configuration.connections = 1
        configuration.statementTimeoutSeconds = 60
        configuration.acquireTimeoutSeconds = 30
        try await withPostgres(configuration, logger: .quiet, body)
    }

    private static func url(of database: String, in cluster: EmbeddedCluster) -> String {
        "\(cluster.url) dbname=\(database)"
    }
}

private let leftovers = Mutex<(EmbeddedCluster, directory: String)?>(nil)

extension Logger {
    /// Writes no log lines. Tests use assertions instead.
    public static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}

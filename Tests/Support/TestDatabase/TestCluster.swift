internal import EventStore
internal import Foundation
public import Logging
internal import Postgres
internal import Synchronization

/// One PostgreSQL for all tests of a process, started by the first test that needs it and gone with the process.
actor TestCluster {
    static let shared = TestCluster()

    private static let template = "humon_template"
    private var starting: Task<TestPostgres, any Error>?
    /// Migrated databases with read models, by the types of their projections.
    private var prepared: [String: Task<String, any Error>] = [:]
    private var number = 0

    /// Creates a database and returns its name.
    func createDatabase(_ content: TestDatabase.Content) async throws -> (name: String, url: String) {
        let template =
            switch content {
            case .empty: "template0"
            case .migrated: Self.template
            case .readModels(let projections): try await preparedTemplate(projections)
            }
        let cluster = try await cluster()
        number += 1
        let name = "test_\(number)"
        try await cluster.administer { client in
            _ = try await client.query("CREATE DATABASE \(identifier: name) TEMPLATE \(identifier: template)")
        }
        return (name, cluster.url(database: name))
    }

    /// The first test that needs these read models builds them; all later ones get a clone.
    private func preparedTemplate(_ projections: [any Projection]) async throws -> String {
        let key = projections.map { String(reflecting: type(of: $0)) }.joined(separator: " ")
        let task =
            prepared[key]
            ?? Task {
                let (name, url) = try await createDatabase(.migrated)
                try await TestDatabase(url: url).prepare(projections)
                return name
            }
        prepared[key] = task
        do { return try await task.value } catch {
            prepared[key] = nil
            throw error
        }
    }

    func dropDatabase(_ name: String) async throws {
        try await cluster().administer { client in
            try await client.query("DROP DATABASE \(identifier: name) WITH (FORCE)")
        }
    }

    private func cluster() async throws -> TestPostgres {
        let task = starting ?? Task { try await Self.start() }
        starting = task
        return try await task.value
    }

    private static func start() async throws -> TestPostgres {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-tests-\(getpid())").path
        // Many concurrent tests need many connections.
        let settings = TestPostgres.unsafeSettings.merging(["max_connections": "500"]) { $1 }
        let cluster = try await TestPostgres(in: directory, settings: settings)
        leftover.withLock { $0 = cluster }
        atexit { leftover.withLock { $0 }?.remove() }
        try await cluster.administer { client in try await client.query("CREATE DATABASE \(identifier: template)") }
        _ = try await cluster.administer(database: template) { try await LogSchema(projections: [], client: $0).migrate() }
        return cluster
    }
}

private let leftover = Mutex<TestPostgres?>(nil)

extension Logger {
    /// Writes no log lines. Tests use assertions instead.
    public static let quiet = Logger(label: "tests") { _ in SwiftLogNoOpLogHandler() }
}

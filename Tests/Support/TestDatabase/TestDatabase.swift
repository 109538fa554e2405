public import EventStore
internal import Logging
public import Postgres

/// A database for one test.
public struct TestDatabase: Sendable {
    /// The URL with which libpq connects as the superuser.
    public let url: String

    /// What a database has at first.
    enum Content: Sendable {
        case empty
        /// The log without events.
        case migrated
        /// The log without events, and the read models of these projections.
        case readModels([any Projection])
    }

    /// - Parameter migrated: true for a clone of a migrated template, false for an empty database
    public static func with<Value: Sendable>(
        migrated: Bool = true, _ body: (TestDatabase) async throws -> Value
    ) async throws -> Value {
        try await Capacity.databases.use { try await withOne(migrated ? .migrated : .empty, body) }
    }

    /// Creates a database with the read models of projections, as a clone of a database in which they were built once.
    public static func with<Value: Sendable>(
        _ projections: [any Projection], _ body: (TestDatabase) async throws -> Value
    ) async throws -> Value {
        try await Capacity.databases.use { try await withOne(.readModels(projections), body) }
    }

    /// Creates two databases, for a test that carries data from one to the other.
    public static func withTwo<Value: Sendable>(
        migrated: Bool = true, _ body: (TestDatabase, TestDatabase) async throws -> Value
    ) async throws -> Value {
        try await Capacity.databases.use(2) {
            try await withOne(migrated ? .migrated : .empty) { first in
                try await withOne(migrated ? .migrated : .empty) { second in try await body(first, second) }
            }
        }
    }

    private static func withOne<Value: Sendable>(
        _ content: Content, _ body: (TestDatabase) async throws -> Value
    ) async throws -> Value {
        let (name, url) = try await TestCluster.shared.createDatabase(content)
        let result: Result<Value, any Error>
        do { result = .success(try await body(TestDatabase(url: url))) } catch { result = .failure(error) }
        try await TestCluster.shared.dropDatabase(name)
        return try result.get()
    }

    /// The configuration of an application's client: the application's role, and time-outs long enough for a busy machine.
    public func configuration(role: String? = nil, connections: Int = 2) -> PostgresConfiguration {
        var configuration = PostgresConfiguration(url: url)
        configuration.role = role
        configuration.connections = connections
        configuration.acquireTimeoutSeconds = 30
        configuration.statementTimeoutSeconds = 60
        return configuration
    }

    public func withClient<Value: Sendable>(
        role: String? = nil, connections: Int = 2, _ body: @Sendable (PostgresClient) async throws -> Value
    ) async throws -> Value {
        try await withPostgres(configuration(role: role, connections: connections), logger: .quiet, body)
    }

    /// Runs a statement as the superuser, who may do more than the application's role, such as an INSERT into the log.
    public func asSuperuser(_ statement: SQL) async throws {
        try await withClient(connections: 1) { client in _ = try await client.query(statement) }
    }
}

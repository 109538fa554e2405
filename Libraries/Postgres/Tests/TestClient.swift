import Postgres
import TestDatabase
import TestFixture
import Testing

extension Trait where Self == Fixture<PostgresClient> {
    /// A client of an empty database of its own: ``client``.
    static func client(
        connections: Int = 2, configure: @escaping @Sendable (inout PostgresConfiguration) -> Void = { _ in }
    ) -> Self {
        Self { body in try await withClient(connections: connections, configure: configure, body) }
    }
}

extension Trait where Self == Fixture<TestDatabase> {
    /// An empty database: ``database``.
    static var database: Self { Self { try await TestDatabase.with(migrated: false, $0) } }
}

var client: PostgresClient { Fixture.current }
var database: TestDatabase { Fixture.current }

/// A client of an empty database of its own.
func withClient<Value: Sendable>(
    connections: Int = 2,
    configure: @Sendable (inout PostgresConfiguration) -> Void = { _ in },
    _ body: @Sendable (PostgresClient) async throws -> Value
) async throws -> Value {
    try await TestDatabase.with(migrated: false) { database in
        var configuration = database.configuration(connections: connections)
        configure(&configuration)
        return try await withPostgres(configuration, logger: .quiet, body)
    }
}

/// A connection of such a client.
func withConnection<Value: Sendable>(_ body: @Sendable (LeasedConnection) async throws -> Value) async throws -> Value {
    try await withClient { client in try await client.withConnection { try await body($0) } }
}

/// Every form in which a log line or a debugger could render a value.
func renderings(of value: some Sendable) -> [String] {
    var dumped = ""
    dump(value, to: &dumped)
    var optionallyDumped = ""
    dump([Optional(value)], to: &optionallyDumped)
    return ["\(value)", String(reflecting: value), "\([Optional(value)])", dumped, optionallyDumped]
}

extension PostgresClient {
    /// The number of sessions that wait for this advisory lock.
    func waiters(forLock lock: Int64) async throws -> Int64? {
        // The view shows the locks of all databases.
        try await query(
            """
            SELECT count(*) FROM pg_locks JOIN pg_database AS d ON d.oid = database
            WHERE d.datname = current_database() AND locktype = 'advisory' AND objid = \(lock)::oid AND NOT granted
            """
        ).column(Int64.self).first
    }
}

extension Rows {
    /// The only column of each row.
    func column<Value: PostgresDecodable>(_: Value.Type) throws(PostgresError) -> [Value] { try decode(Value.self) }
}

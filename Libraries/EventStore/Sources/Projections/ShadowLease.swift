internal import Foundation
internal import Postgres

/// The right to fill some shadows for a limited time. Another process that wants the same shadows gets an error until the holder
/// ends the lease or dies.
struct ShadowLease: Sendable {
    /// Seconds after which another process may replace a dead builder.
    static let seconds = 5.0
    /// Whether a row `s` of `log.shadows` has a lease. Builders of the version before kept the lease in that row.
    static let isLeased: SQL = """
        greatest(s.leased_until, log.leased_until(s.builder))
            BETWEEN clock_timestamp() AND clock_timestamp() + 2 * make_interval(secs => \(seconds))
        """

    let schemas: [String]
    let client: PostgresClient
    private let builder = UUID()

    /// Calls a closure with the lease, and renews the lease meanwhile.
    /// - Throws: ``ReadModelError/underWay(_:)`` if another process has it, ``ReadModelError/aborted(_:)``, the error of the
    ///   closure
    static func with<Value: Sendable>(
        _ schemas: [String], client: PostgresClient, _ body: @Sendable @escaping (ShadowLease) async throws -> Value
    ) async throws -> Value {
        let lease = ShadowLease(schemas: schemas, client: client)
        try await lease.claim()
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await withThrowingTaskGroup(of: Value?.self) { group in
                    group.addTask {
                        while true {
                            try await Task.sleep(for: .seconds(seconds / 4))
                            try await lease.renew()
                        }
                    }
                    group.addTask { try await body(lease) }
                    defer { group.cancelAll() }
                    while let ended = try await group.next() { if let value = ended { return value } }
                    throw CancellationError()
                })
        } catch {
            result = .failure(error)
        }
        // A separate task, because this one may be cancelled. After the release, the next builder need not wait until the lease
        // expires.
        await Task { try? await lease.release() }.value
        return try result.get()
    }

    private init(schemas: [String], client: PostgresClient) {
        self.schemas = schemas.sorted()
        self.client = client
    }

    /// Claims the lease, and waits for a limited time until the lease of a dead builder expires. A live builder renews its lease.
    private func claim() async throws {
        let deadline = ContinuousClock.now + .seconds(Self.seconds * 1.5)
        while true {
            do {
                return try await client.withTransaction { connection in
                    for schema in schemas { try await claim(schema, on: connection) }
                    try await renew(on: connection)
                    // Removes the old leases of builders that were killed.
                    try await connection.query("DELETE FROM log.leases WHERE until < clock_timestamp() - interval '1 day'")
                }
            } catch let error as ReadModelError where ContinuousClock.now >= deadline {
                throw error
            } catch is ReadModelError {
                try await Task.sleep(for: .seconds(0.2))
            }
        }
    }

    private func claim(_ schema: String, on connection: LeasedConnection) async throws {
        let rows = try await connection.query(
            """
            INSERT INTO log.shadows AS s (schema, builder, leased_until)
            VALUES (\(schema), \(builder), '-infinity')
            ON CONFLICT (schema) DO UPDATE
            SET builder = excluded.builder, leased_until = excluded.leased_until, is_to_be_aborted = false,
                resumed_at = clock_timestamp(),
                resumed_from = coalesce((SELECT position FROM log.read_models AS c WHERE c.schema = s.schema), 0)
            WHERE NOT \(Self.isLeased)
            """
        )
        guard rows.affected == 1 else { throw ReadModelError.underWay(schema) }
    }

    /// Renews the lease. An error of an unavailable database is ignored: the work itself then fails, or goes on.
    /// - Throws: ``ReadModelError/aborted(_:)``, which cancels the body
    private func renew() async throws {
        do {
            try await renew(on: client)
            let aborted = try await client.query(
                """
                SELECT schema FROM log.shadows
                WHERE schema = ANY(\(schemas)) AND builder = \(builder) AND is_to_be_aborted ORDER BY schema
                """
            ).decode(String.self)
            if let schema = aborted.first { throw ReadModelError.aborted(schema) }
        } catch let error as PostgresError where error.isUnavailability {}
    }

    private func renew(on database: any PostgresQuerying) async throws {
        try await database.query("SELECT log.renew_lease(\(builder), \(Self.seconds))")
    }

    /// Checks the lease. Every transaction of the work calls this function after it has locked the shadows' checkpoints. Another
    /// process that takes the lease waits for these locks. The lease itself is not locked. So it can be renewed, and an operator
    /// can abort, while a long statement runs.
    /// - Throws: ``ReadModelError/aborted(_:)``, ``ReadModelError/underWay(_:)`` if another process has taken the lease
    func check(on connection: LeasedConnection) async throws {
        let found = try await connection.query(
            """
            SELECT schema, is_to_be_aborted FROM log.shadows
            WHERE schema = ANY(\(schemas)) AND builder = \(builder) ORDER BY schema
            """
        ).decode((String, Bool).self)
        if let aborted = found.first(where: \.1) { throw ReadModelError.aborted(aborted.0) }
        let held = Set(found.map(\.0))
        if let lost = schemas.first(where: { !held.contains($0) }) { throw ReadModelError.underWay(lost) }
    }

    /// Ends the lease on the shadows. The same transaction must drop them.
    /// - Returns: the shadows that no other process has taken
    func end(on connection: LeasedConnection) async throws -> [String] {
        try await connection.query(
            "DELETE FROM log.shadows WHERE schema = ANY(\(schemas)) AND builder = \(builder) RETURNING schema"
        ).decode(String.self)
    }

    private func release() async throws {
        try await client.query("DELETE FROM log.leases WHERE holder = \(builder)")
    }
}

public import Encoding
internal import Foundation
internal import Postgres

/// The status of one copy of a read model in the database.
public struct ReadModelStatus: Sendable, Hashable {
    public enum State: String, Sendable, Hashable, CaseIterable {
        /// The tables show the whole log.
        case ready
        /// A server catches up by itself.
        case behind
        /// The tables are beyond the end of the log: the log has lost its end.
        case ahead
        /// The tables are missing, and appends are refused.
        case missing
        /// A cutover replaced these tables. A server drops them when no transaction reads them.
        case replaced
        /// A shadow that a running rebuild fills.
        case building
        /// A shadow that no process fills; a rebuild continues it.
        case interrupted
        /// The tables belong to another version of the program.
        case otherVersion = "other version"
    }

    public var name: String
    public var schema: String
    public var version: Int32
    public var position: Int64
    /// Number of recorded events that the tables do not show yet.
    public var lag: Int64
    /// Seconds since the first of these events was recorded.
    public var lagSeconds: Double
    /// Size on disk with indexes; `nil` while the tables are about to be dropped.
    public var bytes: Int64?
    public var builtAt: Timestamp?
    /// Whether a server answers from the tables, or a process fills them.
    public var isHeld = false
    public var state: State
}

extension ReadModels {
    /// Lists all existing copies and the missing ones. This program's own copies come first.
    /// - Throws: `PostgresError`
    public func list() async throws -> [ReadModelStatus] {
        let found = try await client.query(
            """
            SELECT c.schema, substring(c.schema FROM '_v([0-9]+)')::integer, p.position, log.tail() - p.position,
                coalesce(extract(epoch FROM clock_timestamp() - (
                    SELECT recorded_at FROM log.recorded_events WHERE position = p.position + 1))::float8, 0),
                c.built_at, log.holders(c.schema) <> '{}'
            FROM log.read_models AS c
            CROSS JOIN LATERAL log.read_model_positions(ARRAY[c.schema]) AS p
            WHERE to_regnamespace(c.schema) IS NOT NULL ORDER BY c.schema
            """
        ).decode((String, Int32, Int64, Int64, Double, Timestamp, Bool).self)
        var statuses = found.map { schema, version, position, lag, lagSeconds, builtAt, isHeld in
            ReadModelStatus(
                name: Self.name(of: schema), schema: schema, version: version, position: position, lag: max(lag, 0),
                lagSeconds: max(lagSeconds, 0), builtAt: builtAt, isHeld: isHeld,
                state: state(of: schema, lag: lag, isHeld: isHeld)
            )
        }
        for index in statuses.indices { statuses[index].bytes = try await bytes(of: statuses[index].schema) }
        let missing = projections.filter { projection in !statuses.contains { $0.schema == type(of: projection).schema } }.map {
            projection in
            ReadModelStatus(
                name: type(of: projection).name, schema: type(of: projection).schema, version: type(of: projection).version,
                position: 0, lag: 0, lagSeconds: 0, bytes: 0, state: .missing
            )
        }
        let own = schemas
        return (missing + statuses).sorted {
            (own.firstIndex(of: $0.schema) ?? own.count, $0.schema) < (own.firstIndex(of: $1.schema) ?? own.count, $1.schema)
        }
    }

    /// PostgreSQL locks what it measures, so this statement would wait for a drop of the tables.
    private func bytes(of schema: String) async throws -> Int64? {
        do {
            return try await client.run([
                "SELECT set_config('lock_timeout', '100ms', true)",
                """
                SELECT sum(pg_total_relation_size(oid))::bigint FROM pg_class
                WHERE relnamespace = to_regnamespace(\(schema)) AND relkind = 'r'
                """,
            ])[1].decode(Int64?.self).first ?? nil
        } catch let error as PostgresError where error.sqlState == .lockNotAvailable {
            return nil
        }
    }

    /// The shadows of rebuilds that run or were interrupted.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func rebuilds() async throws -> [String] {
        let schemas = projections.map { type(of: $0).schema + Self.rebuildSuffix }
        return try await client.query(
            """
            SELECT s.schema FROM unnest(\(schemas)) AS s (schema)
            WHERE to_regnamespace(s.schema) IS NOT NULL OR log.holders(s.schema) <> '{}' ORDER BY 1
            """
        ).decode(String.self)
    }

    /// Ends rebuilds that run or were interrupted, and drops their shadows.
    /// - Returns: the dropped shadows
    /// - Throws: ``ReadModelError``, ``PostgresError``, or `CancellationError`
    public func abort() async throws -> [String] {
        let found = try await rebuilds()
        guard !found.isEmpty else { return [] }
        let holders = try await client.query(
            "SELECT s.schema, h.pid FROM unnest(\(found)) AS s (schema) CROSS JOIN unnest(log.holders(s.schema)) AS h (pid)"
        ).decode((String, Int32).self)
        for (schema, holder) in holders {
            do {
                // The role of the application may not end a session of the user.
                try await client.run(["SELECT set_config('role', 'none', true)", "SELECT pg_terminate_backend(\(holder))"])
            } catch PostgresError.refused(let refusal) where refusal.sqlState == .insufficientPrivilege {
                throw ReadModelError.foreign(schema)
            }
        }
        try await ShadowLock.with(found, client: client) { lock in try await dropShadows(of: lock) }
        return found
    }

    private func state(of schema: String, lag: Int64, isHeld: Bool) -> ReadModelStatus.State {
        if schemas.contains(schema) { return lag == 0 ? .ready : lag > 0 ? .behind : .ahead }
        if schema.hasSuffix(Self.replacedSuffix) { return .replaced }
        let isShadow = schema.hasSuffix(Self.rebuildSuffix) || schema.hasSuffix(Self.verifySuffix)
        return !isShadow ? .otherVersion : isHeld ? .building : .interrupted
    }

    /// Returns the part of a schema's name before its version.
    static func name(of schema: String) -> String {
        schema.firstRange(of: "_v").map { String(schema[..<$0.lowerBound]) } ?? schema
    }
}

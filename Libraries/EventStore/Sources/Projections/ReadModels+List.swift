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
        /// A cutover replaced these tables. A rollback makes them live again.
        case kept
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
    /// Number of rows: counted, or PostgreSQL's estimate if counting would take long.
    public var rows: Int64
    /// Size on disk with indexes.
    public var bytes: Int64
    public var builtAt: Timestamp?
    /// The present time while a server uses the tables; otherwise the last time at which a server noted its use.
    public var servedAt: Timestamp?
    public var state: State
}

/// The status of a rebuild that runs or was interrupted.
public struct ShadowStatus: Sendable, Hashable {
    public var schema: String
    public var position: Int64
    public var tail: Int64
    public var beganAt: Timestamp
    /// Recorded events per second since the present rebuild began or continued.
    public var rate: Double
    /// Whether a process fills the shadow now.
    public var isUnderWay: Bool
    public var secondsLeft: Double? { isUnderWay && rate > 0 ? (Double(tail) - Double(position)) / rate : nil }
}

extension ReadModels {
    /// Lists all existing copies and the missing ones. This program's own copies come first.
    /// - Throws: `PostgresError`
    public func list() async throws -> [ReadModelStatus] {
        let found = try await client.query(
            """
            SELECT c.schema, c.version, p.position, log.tail() - p.position,
                coalesce(extract(epoch FROM clock_timestamp() - (
                    SELECT recorded_at FROM log.recorded_events WHERE position = p.position + 1))::float8, 0),
                coalesce(t.rows, 0)::bigint, coalesce(t.bytes, 0)::bigint, c.built_at,
                CASE WHEN log.is_held(c.schema) THEN clock_timestamp() WHEN isfinite(c.served_at) THEN c.served_at END,
                coalesce(\(ShadowLease.isLeased), false)
            FROM log.read_models AS c
            CROSS JOIN LATERAL log.read_model_positions(ARRAY[c.schema]) AS p
            LEFT JOIN log.shadows AS s ON s.schema = c.schema
            CROSS JOIN LATERAL (
                SELECT sum(greatest(k.reltuples, 0)) AS rows, sum(pg_total_relation_size(k.oid)) AS bytes
                FROM pg_class AS k WHERE k.relnamespace = to_regnamespace(c.schema) AND k.relkind = 'r'
            ) AS t
            WHERE to_regnamespace(c.schema) IS NOT NULL ORDER BY c.schema
            """
        ).decode((String, Int32, Int64, Int64, Double, Int64, Int64, Timestamp, Timestamp?, Bool).self)
        var statuses = found.map { schema, version, position, lag, lagSeconds, rows, bytes, builtAt, servedAt, isLeased in
            ReadModelStatus(
                name: Self.name(of: schema), schema: schema, version: version, position: position, lag: max(lag, 0),
                lagSeconds: max(lagSeconds, 0), rows: rows, bytes: bytes, builtAt: builtAt, servedAt: servedAt,
                state: state(of: schema, lag: lag, isLeased: isLeased)
            )
        }
        for index in statuses.indices where statuses[index].bytes <= Self.countedBytes {
            statuses[index].rows = try await count(statuses[index].schema)
        }
        let missing = projections.filter { projection in !statuses.contains { $0.schema == type(of: projection).schema } }.map {
            projection in
            ReadModelStatus(
                name: type(of: projection).name, schema: type(of: projection).schema, version: type(of: projection).version,
                position: 0, lag: 0, lagSeconds: 0, rows: 0, bytes: 0, state: .missing
            )
        }
        let own = schemas
        return (missing + statuses).sorted {
            (own.firstIndex(of: $0.schema) ?? own.count, $0.schema) < (own.firstIndex(of: $1.schema) ?? own.count, $1.schema)
        }
    }

    /// The rows of larger read models are not counted, because that would take seconds.
    private static let countedBytes: Int64 = 500_000_000

    private func count(_ schema: String) async throws -> Int64 {
        var sum: Int64 = 0
        for table in try await Self.tables(of: schema, on: client) {
            do {
                sum +=
                    try await client.query("SELECT count(*) FROM \(identifier: schema).\(identifier: table)")
                    .decode(Int64.self).first ?? 0
            } catch let error as PostgresError where error.sqlState == .undefinedTable || error.sqlState == .invalidSchemaName {
                // A cutover has dropped the table meanwhile.
            }
        }
        return sum
    }

    /// The kept tables, in the order of the read models, and whether a rollback to the target makes them live.
    /// - Throws: ``ReadModelError/noPreviousTables(_:)``, ``PostgresError``, or `CancellationError`
    public func kept(for target: RollbackTarget) async throws -> [(name: String, position: Int64, isTarget: Bool)] {
        let found = try await list().filter { $0.state == .kept }
        let rolledBack = try await client.query(Self.rolledBack(among: schemas)).decode(
            String.self)
        return try projections.map { projection in
            let (name, live) = (type(of: projection).name, type(of: projection).schema)
            guard let copy = found.first(where: { $0.schema == live + Self.previousSuffix }) else {
                throw ReadModelError.noPreviousTables(name)
            }
            return (name, copy.position, rolledBack.contains(live) == (target == .newer))
        }
    }

    /// Lists the rebuilds of these read models.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func shadows() async throws -> [ShadowStatus] {
        try await client.query(
            """
            SELECT s.schema, coalesce(c.position, 0), log.tail(), s.began_at,
                (coalesce(c.position, 0) - s.resumed_from)
                    / greatest(extract(epoch FROM clock_timestamp() - s.resumed_at)::float8, 0.001),
                \(ShadowLease.isLeased)
            FROM log.shadows AS s LEFT JOIN log.read_models AS c ON c.schema = s.schema ORDER BY s.schema
            """
        ).decode((String, Int64, Int64, Timestamp, Double, Bool).self).filter { status in
            projections.contains { status.0 == type(of: $0).schema + Self.rebuildSuffix }
        }.map { schema, position, tail, beganAt, rate, isUnderWay in
            ShadowStatus(
                schema: schema, position: position, tail: tail, beganAt: beganAt, rate: rate, isUnderWay: isUnderWay)
        }
    }

    /// Ends rebuilds that run or were interrupted, and drops their shadows.
    /// - Returns: the dropped shadows
    /// - Throws: ``ReadModelError``, ``PostgresError``, or `CancellationError`
    public func abort() async throws -> [String] {
        let schemas = projections.map { type(of: $0).schema + Self.rebuildSuffix }
        let found = try await client.query(
            "UPDATE log.shadows SET is_to_be_aborted = true WHERE schema = ANY(\(schemas)) RETURNING schema"
        ).decode(String.self)
        guard !found.isEmpty else { return [] }
        // A live builder drops its shadow and ends its lease. For a dead builder, this process does both.
        try await ShadowLease.with(found, client: client) { lease in try await dropShadows(of: lease) }
        return found
    }

    private func state(of schema: String, lag: Int64, isLeased: Bool) -> ReadModelStatus.State {
        let own = schemas
        if own.contains(schema) { return lag == 0 ? .ready : lag > 0 ? .behind : .ahead }
        if schema.hasSuffix(Self.rebuildSuffix) || schema.hasSuffix(Self.verifySuffix) {
            return isLeased ? .building : .interrupted
        }
        return own.contains { $0 + Self.previousSuffix == schema } ? .kept : .otherVersion
    }

    /// Returns the part of a schema's name before its version.
    static func name(of schema: String) -> String {
        schema.firstRange(of: "_v").map { String(schema[..<$0.lowerBound]) } ?? schema
    }
}

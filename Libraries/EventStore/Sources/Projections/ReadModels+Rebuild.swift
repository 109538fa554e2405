internal import Foundation
internal import Postgres

/// The progress of the work on shadows.
public struct ShadowProgress: Sendable, Hashable {
    public enum Phase: Sendable, Hashable {
        case loading
        case makingIndexes
        case comparing
    }

    public var phase: Phase
    public var position: Int64
    /// The end of the log at the last look.
    public var tail: Int64
}

/// The result of a cutover: other tables are live from now on.
public struct Cutover: Sendable, Hashable {
    public var names: [String]
    /// The new tables show the log up to this position. The first append to them has the next one.
    public var position: Int64
    /// Number of recorded events that were folded for the cutover.
    public var events: Int64
    /// Seconds for which appends had to wait.
    public var heldSeconds: Double
}

extension ReadModels {
    static let rebuildSuffix = "_rebuild"
    /// Maximum number of recorded events in a round after which the cutover begins. The rest is done under the log's lock.
    private static let remainder: Int64 = 100
    /// After this many rounds the cutover happens in any case, because writers are as fast as the rebuild.
    private static let rounds = 20

    /// Builds the read models again from the log, in shadow schemas. Meanwhile readers and writers use the present tables. The
    /// new tables become live under the log's lock, at an exact position, and the old tables are dropped. An interrupted rebuild
    /// continues from its checkpoint. A rebuild by an older program is the way back to its tables.
    /// - Throws: ``ReadModelError``, ``LogGapError``, ``FormatError``
    @discardableResult
    public func rebuild(progress: @escaping @Sendable (ShadowProgress) -> Void) async throws -> Cutover {
        try await ShadowLock.with(projections.map { type(of: $0).schema + Self.rebuildSuffix }, client: client) { lock in
            try await rebuild(under: lock, progress: progress)
        }
    }

    /// Builds the read models, unless another process has built them since the caller looked.
    func build() async throws {
        try await ShadowLock.with(projections.map { type(of: $0).schema + Self.rebuildSuffix }, client: client) { lock in
            if try await positions().count < projections.count { try await rebuild(under: lock) { _ in } }
        }
    }

    @discardableResult
    private func rebuild(
        under lock: ShadowLock, progress: @escaping @Sendable (ShadowProgress) -> Void
    ) async throws -> Cutover {
        let reader = LogReader(client: client)
        var copies = try await client.withTransaction { connection in
            let shadows = try await openShadows(on: connection)
            try await lock.check(on: connection)
            return shadows
        }
        let start = copies.position
        var tail = try await reader.tail()
        progress(ShadowProgress(phase: .loading, position: start, tail: tail))
        for round in 0..<Self.rounds {
            let before = copies.position
            // The later rounds must be faster than the writers.
            let loader = round == 0 ? background : client
            copies = try await ShadowLoad(copies: copies, lock: lock, filter: filter, client: loader).run { [tail] position in
                progress(ShadowProgress(phase: .loading, position: position, tail: max(tail, position)))
            }
            if round == 0 {
                progress(ShadowProgress(phase: .makingIndexes, position: copies.position, tail: tail))
                try await makeIndexes(under: lock)
            } else if copies.position - before <= Self.remainder {
                break
            }
            tail = try await reader.tail()
        }
        return try await cutover(under: lock, from: start)
    }

    /// Opens the shadows, and continues shadows that exist.
    private func openShadows(on connection: LeasedConnection) async throws -> [ReadModelCopy] {
        let there = try await ReadModelCopy.locked(projections, suffix: Self.rebuildSuffix, on: connection).map(\.schema)
        for projection in projections {
            let shadow = type(of: projection).schema + Self.rebuildSuffix
            if !there.contains(shadow) { try await Self.create(shadow, on: connection) }
        }
        return try await ReadModelCopy.locked(projections, suffix: Self.rebuildSuffix, on: connection)
    }

    /// Makes the indexes of one shadow after the other, each in its own transaction. Together they would take all processors of
    /// PostgreSQL from requests.
    private func makeIndexes(under lock: ShadowLock) async throws {
        for projection in projections {
            let shadow = type(of: projection).schema + Self.rebuildSuffix
            try await background.withLongTransaction { connection in
                try await connection.query("SET LOCAL maintenance_work_mem = '256MB'")
                try await connection.query("SET LOCAL max_parallel_maintenance_workers = 0")
                try await connection.query("SELECT log.index_read_model(\(shadow))")
                try await lock.check(on: connection)
            }
        }
    }

    static func tables(of schema: String, on connection: any PostgresQuerying) async throws -> [String] {
        try await connection.query(
            """
            SELECT relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
            WHERE n.nspname = \(schema) AND c.relkind = 'r' ORDER BY relname
            """
        ).decode(String.self)
    }

    /// Drops the shadows, if no other process has taken their locks.
    func dropShadows(of lock: ShadowLock) async throws {
        try await client.withLongTransaction { connection in
            try await connection.query("SELECT log.lock_read_models(\(lock.schemas))")
            for schema in lock.schemas { try await Self.drop(schema, on: connection) }
            try await lock.check(on: connection)
        }
    }
}

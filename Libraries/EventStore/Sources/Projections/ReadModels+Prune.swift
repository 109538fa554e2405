internal import Logging
internal import Postgres

extension ReadModels {
    /// Drops the schemas that ``prunable(otherVersions:)`` lists. This cannot be undone.
    /// - Parameter otherVersions: whether to drop the read models of other versions of the program, too
    /// - Returns: the dropped schemas
    /// - Throws: ``ReadModelError/served(_:)`` if a server of another version still answers from one of them, ``ReadModelError/busy`` if
    ///   readers of one do not finish, `PostgresError`
    public func prune(otherVersions: Bool = false) async throws -> [String] {
        let schemas = try await prunable(otherVersions: otherVersions)
        var dropped: [String] = []
        for schema in schemas {
            do {
                // A copy that a process began to use a moment ago stays.
                if try await drop(schema, if: { _ in true }) { dropped.append(schema) }
            } catch PostgresError.refused(let refusal) where refusal.sqlState == .lockNotAvailable { throw ReadModelError.busy }
        }
        return dropped
    }

    /// Lets the tables before the last rebuild follow the log, so that they forget what it forgot, and drops the shadows that lack an
    /// erasure and that nobody fills any more. A copy that another session locks is left to the next call.
    /// - Throws: `PostgresError` if the database is away, `CancellationError`
    func forget() async throws {
        // An operator may have changed the tables. ``dropForgotten(standing:)`` drops them a day later.
        for (schema, error) in try await catchUp(suffix: Self.previousSuffix, lockTimeout: Self.lockTimeout).failures {
            logger.error(
                "the tables before the last rebuild cannot forget an erased person",
                metadata: ["schema": "\(schema)", "error": "\(error)"])
        }
        let shadows = schemas.flatMap { [$0 + Self.rebuildSuffix, $0 + Self.verifySuffix] }
        for schema in try await Self.positions(of: shadows, on: client).keys.sorted() {
            // A builder that has the copy's lock locks the same row first.
            try await drop(schema, if: "\(lacksErasure(schema)) AND NOT log.is_held(\(schema))")
        }
    }

    /// Drops the copies that lack an erasure of more than a day ago and that no program lets follow the log: those of other versions, and
    /// tables before a rebuild that cannot follow. The operator's way back to them needs a rebuild then. A copy that moved since an earlier
    /// call stays: a server that starts lets it follow. A copy whose readers hold a lock stays, too.
    /// - Parameter standing: the result of that call
    /// - Returns: the positions of the copies that nobody uses now
    /// - Throws: `PostgresError`, `CancellationError`
    func dropForgotten(standing: [String: Int64]) async throws -> [String: Int64] {
        let unused = try await unwanted(otherVersions: true).filter { !$0.isHeld }.map(\.name)
        let positions = try await Self.positions(of: unused, on: client)
        for (schema, position) in positions where standing[schema] == position {
            try await drop(
                schema,
                if: """
                    \(lacksErasure(schema, forHours: 24)) AND NOT log.is_held(\(schema))
                        AND (SELECT position FROM log.read_model_positions(ARRAY[\(schema)])) = \(position)
                    """)
        }
        return positions
    }

    /// Whether an erasure of the copy's category stands behind its position. The copy read no words if it was built long after the erasure.
    private func lacksErasure(_ schema: String, forHours hours: Int32 = 0) -> SQL {
        let erasures = projections.filter { type(of: $0).name == Self.name(of: schema) }.flatMap(\.erasures)
        return """
            EXISTS (
                SELECT FROM unnest(\(erasures)) AS t (type) JOIN log.recorded_events AS e ON e.type = t.type
                WHERE e.type LIKE '%Erased'
                    AND e.position > (SELECT position FROM log.read_model_positions(ARRAY[\(schema)]))
                    AND e.recorded_at > (SELECT max(built_at) FROM log.read_models WHERE schema = \(schema)) - interval '1 hour'
                    AND e.recorded_at < clock_timestamp() - make_interval(hours => \(hours))
            )
            """
    }

    /// How long a drop waits for readers, because new readers wait behind it, and how long old tables wait for their lock.
    private static let lockTimeout = "2s"

    /// Drops a schema if a condition holds, also under the lock.
    private func drop(_ schema: String, if condition: SQL) async throws {
        guard try await client.query("SELECT \(condition)").decode(Bool.self) == [true] else { return }
        do {
            let isDropped = try await drop(schema) { connection in
                try await connection.query("SELECT log.lock_read_models(ARRAY[\(schema)])")
                return try await connection.query("SELECT \(condition)").decode(Bool.self) == [true]
            }
            if isDropped {
                logger.notice("dropped a copy of a read model that lacks an erasure", metadata: ["schema": "\(schema)"])
            }
        } catch PostgresError.refused(let refusal) where refusal.sqlState == .lockNotAvailable {}
    }

    /// Drops a schema that no other process uses.
    /// - Parameter isFree: asked in the transaction of the drop
    @discardableResult
    private func drop(_ schema: String, if isFree: (LeasedConnection) async throws -> Bool) async throws -> Bool {
        // This happens before the drop, because the drop waits for readers, and appends must not wait with it.
        try await client.query("SELECT log.leave_inline(ARRAY[\(schema)])")
        return try await client.withLongTransaction { connection in
            try await connection.query("SELECT set_config('lock_timeout', \(Self.lockTimeout), true)")
            try await Self.lockNames(on: connection)
            guard try await isFree(connection),
                try await connection.query("SELECT pg_try_advisory_xact_lock(log.lock_class(), hashtext(\(schema)))")
                    .decode(Bool.self) == [true]
            else { return false }
            try await Self.drop(schema, on: connection)
            return true
        }
    }

    /// The schemas that cutovers replaced, and the schemas that interrupted verifications left.
    /// - Parameter otherVersions: whether to list the read models of other versions of the program, too
    /// - Throws: ``ReadModelError/served(_:)`` if a server of another version still answers from one of them; `PostgresError`
    public func prunable(otherVersions: Bool = false) async throws -> [String] {
        let found = try await unwanted(otherVersions: otherVersions)
        if let served = found.first(where: { $0.isHeld && !Self.isShadow($0.name) }) { throw ReadModelError.served(served.name) }
        return found.filter { !$0.isHeld }.map(\.name)
    }

    static func isShadow(_ schema: String) -> Bool {
        schema.hasSuffix(rebuildSuffix) || schema.hasSuffix(verifySuffix)
    }

    private func unwanted(otherVersions: Bool) async throws -> [(name: String, isHeld: Bool)] {
        let names = projections.map { type(of: $0).name }
        let own = schemas
        let found = try await client.query("SELECT schema, log.is_held(schema) FROM log.read_models ORDER BY schema")
            .decode((String, Bool).self)
        return found.filter { schema, _ in
            if own.contains(where: { [$0 + Self.previousSuffix, $0 + Self.verifySuffix].contains(schema) }) { return true }
            let isOwn = own.contains { schema == $0 || schema.hasPrefix($0 + "_") }
            return otherVersions && names.contains(Self.name(of: schema)) && !isOwn
        }.map { (name: $0, isHeld: $1) }
    }
}

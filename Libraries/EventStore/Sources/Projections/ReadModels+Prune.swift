internal import Logging
internal import Postgres

extension ReadModels {
    /// The copies beside the live tables that no process uses: replaced tables, shadows, and those of other versions of the program.
    /// - Throws: `PostgresError`
    public func prunable() async throws -> [String] {
        let found = try await client.query("SELECT o.schema FROM (\(others)) AS o WHERE log.holders(o.schema) = '{}' ORDER BY 1")
        return try found.decode(String.self)
    }

    /// Drops the schemas that ``prunable()`` lists. A program that needs one of them builds it again.
    /// - Returns: the dropped schemas
    /// - Throws: ``ReadModelError/busy`` if a process began to use one of them or readers of one do not finish, `PostgresError`
    public func prune() async throws -> [String] {
        let schemas = try await prunable()
        for schema in schemas {
            guard try await drop(schema) else { throw ReadModelError.busy }
        }
        return schemas
    }

    /// Drops the copies that no process uses and that must not keep the words of an erased person: replaced tables, shadows that lack an
    /// erasure, and copies of other versions that lack one of more than a day ago. A copy that a transaction reads is left to the next
    /// call.
    /// - Throws: `PostgresError`, `CancellationError`
    func forget() async throws {
        let found = try await client.query("SELECT f.schema FROM (\(forgettable)) AS f WHERE log.holders(f.schema) = '{}'")
        for schema in try found.decode(String.self) {
            // The copy may have moved since. A builder that has the copy's lock locks the same row first.
            if try await drop(schema, if: "\(schema) IN (\(forgettable))") {
                logger.notice("dropped a copy of a read model", metadata: ["schema": "\(schema)"])
            }
        }
    }

    /// Drops the tables that cutovers replaced.
    /// - Returns: whether all are gone; a transaction may read some
    func dropReplaced() async throws -> Bool {
        var areGone = true
        for live in schemas { areGone = try await drop(live + Self.replacedSuffix) && areGone }
        return areGone
    }

    /// Selects the copies beside the live tables, with their positions.
    private var others: SQL {
        """
        SELECT m.schema, m.built_at, p.position, split_part(m.schema, '_v', 1) AS name
        FROM log.read_models AS m CROSS JOIN LATERAL log.read_model_positions(ARRAY[m.schema]) AS p
        WHERE split_part(m.schema, '_v', 1) = ANY (\(projections.map { type(of: $0).name })) AND NOT m.schema = ANY (\(schemas))
        """
    }

    /// Selects the copies that ``forget()`` drops unless a process uses them. A copy that was built long after an erasure read no words.
    private var forgettable: SQL {
        let erasures = projections.flatMap { projection in projection.erasures.map { (type(of: projection).name, $0) } }
        let shadows = schemas.flatMap { [$0 + Self.rebuildSuffix, $0 + Self.verifySuffix] }
        return """
            SELECT o.schema FROM (\(others)) AS o
            WHERE o.schema LIKE '%\\_replaced' OR EXISTS (
                SELECT FROM unnest(\(erasures.map(\.0)), \(erasures.map(\.1))) AS t (name, type)
                JOIN log.recorded_events AS e ON e.type = t.type
                WHERE t.name = o.name AND e.type LIKE '%Erased' AND e.position > o.position
                    AND e.recorded_at > o.built_at - interval '1 hour'
                    AND (o.schema = ANY (\(shadows)) OR e.recorded_at < clock_timestamp() - interval '24 hours')
            )
            """
    }

    /// How long a drop waits for readers, because new readers wait behind it.
    private static let lockTimeout = "2s"

    /// Drops a schema that no other process uses.
    /// - Parameter condition: must hold while nothing can move the copy
    /// - Returns: whether the schema is gone
    private func drop(_ schema: String, if condition: SQL = "true") async throws -> Bool {
        // This happens before the drop, because the drop waits for readers, and appends must not wait with it.
        try await client.query("SELECT log.leave_inline(ARRAY[\(schema)])")
        do {
            return try await client.withLongTransaction { connection in
                try await connection.query("SELECT set_config('lock_timeout', \(Self.lockTimeout), true)")
                try await connection.query("SELECT log.lock_names()")
                try await connection.query("SELECT log.lock_read_models(ARRAY[\(schema)])")
                let isFree = try await connection.query(
                    "SELECT \(condition) AND pg_try_advisory_xact_lock(\(Self.lockClass), hashtext(\(schema)))"
                ).decode(Bool.self)
                guard isFree == [true] else { return false }
                try await Self.drop(schema, on: connection)
                return true
            }
        } catch PostgresError.refused(let refusal) where refusal.sqlState == .lockNotAvailable {
            return false
        }
    }
}

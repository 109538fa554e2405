internal import Postgres

/// The result of a comparison of a read model with the log.
public struct Comparison: Sendable, Hashable {
    public struct Difference: Sendable, Hashable {
        public var table: String
        /// The row's primary key, as a JSON object.
        public var key: String
        /// The actual row as JSON; nil if it is missing.
        public var found: String?
        /// The row that the log produces; nil if no row should exist.
        public var expected: String?
    }

    public var name: String
    /// The position at which both were compared.
    public var position: Int64
    public var rows: Int64 = 0
    /// Number of rows that differ.
    public var differing: Int64 = 0
    /// The first differences.
    public var differences: [Difference] = []
}

extension ReadModels {
    static let verifySuffix = "_verify"

    /// Builds the read models in shadow schemas and compares them with the live tables row by row, at one position, while servers
    /// run. It neither locks nor changes live tables.
    /// - Parameter limit: maximum number of differing rows in the result, for each table
    /// - Throws: ``ReadModelError``, ``LogGapError``, ``FormatError``, `PostgresError`
    public func verify(
        limit: Int64 = 20, progress: @escaping @Sendable (ShadowProgress) -> Void
    ) async throws -> [Comparison] {
        let schemas = projections.map { type(of: $0).schema + Self.verifySuffix }
        return try await ShadowLock.with(schemas, client: client) { lock in
            let result: Result<[Comparison], any Error>
            do {
                result = .success(try await verify(under: lock, limit: limit, progress: progress))
            } catch {
                result = .failure(error)
            }
            // A separate task, because this one may be cancelled.
            await Task { try? await dropShadows(of: lock) }.value
            return try result.get()
        }
    }

    private func verify(
        under lock: ShadowLock, limit: Int64, progress: @escaping @Sendable (ShadowProgress) -> Void
    ) async throws -> [Comparison] {
        var copies = try await createShadows(under: lock)
        progress(ShadowProgress(phase: .loading, position: 0, tail: try await LogReader(client: client).tail()))
        while true {
            let live = try await positions()
            guard live.count == projections.count, let end = live.values.min() else { throw ReadModelError.missing }
            let before = copies.position
            let load = ShadowLoad(copies: copies, lock: lock, filter: filter, client: client)
            copies = try await load.run(through: end) { position in
                progress(ShadowProgress(phase: .loading, position: position, tail: end))
            }
            // The remaining recorded events are few enough for the comparison's own transaction.
            guard end - before > ShadowLoad.page else { break }
        }
        let position = copies.position
        progress(ShadowProgress(phase: .comparing, position: position, tail: position))
        // One after the other, because together they would take all processors of PostgreSQL from requests.
        var comparisons: [Comparison] = []
        for projection in projections { comparisons.append(try await compare(projection, under: lock, limit: limit)) }
        return comparisons
    }

    private func createShadows(under lock: ShadowLock) async throws -> [ReadModelCopy] {
        try await client.withTransaction { connection in
            for projection in projections {
                try await Self.create(type(of: projection).schema + Self.verifySuffix, on: connection)
            }
            let shadows = try await ReadModelCopy.locked(projections, suffix: Self.verifySuffix, on: connection)
            try await lock.check(on: connection)
            return shadows
        }
    }

    private func compare(_ projection: any Projection, under lock: ShadowLock, limit: Int64) async throws -> Comparison {
        let tableGeneration = ReadModelState.tableGeneration(of: type(of: projection).schema)
        while true {
            let (comparison, seen) = try await compareOnce(projection, tableGeneration, under: lock, limit: limit)
            // A snapshot holds rows, but not names. If other tables became live meanwhile, the comparison runs again.
            if try await client.query(tableGeneration).decode(String.self) == seen { return comparison }
        }
    }

    /// Compares in one snapshot. It shows the live tables at the position of their checkpoint, even if appends happen meanwhile.
    private func compareOnce(
        _ projection: any Projection, _ tableGeneration: SQL, under lock: ShadowLock, limit: Int64
    ) async throws -> (Comparison, seen: [String]) {
        let (name, live) = (type(of: projection).name, type(of: projection).schema)
        return try await client.withLongTransaction { connection in
            try await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
            guard let position = try await Self.positions(of: [live], on: connection)[live] else { throw ReadModelError.missing }
            let seen = try await connection.query(tableGeneration).decode(String.self)
            var shadow = try await ReadModelCopy.locked([projection], suffix: Self.verifySuffix, on: connection)
            try await lock.check(on: connection)
            try await ReadModelCopy.catchUp(&shadow, through: position, filter: filter, on: connection)
            for setting in ["enable_seqscan = on", "work_mem = '128MB'", "max_parallel_workers_per_gather = 0"] {
                try await connection.query(SQL(unsafeText: "SET LOCAL " + setting))
            }
            var comparison = Comparison(name: name, position: position)
            for table in try await Self.tables(of: live + Self.verifySuffix, on: connection) {
                let texts = try await Self.texts(for: table, in: live, limit: limit, on: connection)
                comparison.rows += try await connection.query(texts.count).decode(Int64.self).first ?? 0
                let rows = try await connection.query(texts.differences).decode((Int64, String, String?, String?).self)
                comparison.differing += rows.first?.0 ?? 0
                // The query asks for at least one row, which carries the count.
                comparison.differences += rows.prefix(Int(limit)).map {
                    .init(table: table, key: $0.1, found: $0.2, expected: $0.3)
                }
            }
            return (comparison, seen)
        }
    }

    /// Makes the statements that compare a table with its shadow. PostgreSQL writes them, because it knows how to quote names.
    private static func texts(
        for table: String, in live: String, limit: Int64, on connection: LeasedConnection
    ) async throws -> (count: SQL, differences: SQL) {
        let shadow = live + verifySuffix
        let rows = try await connection.query(
            """
            SELECT format('SELECT count(*) FROM %I.%I', \(shadow), \(table)),
                format(
                    'SELECT count(*) OVER (), json_build_object(%s)::text,
                        CASE WHEN l.ctid IS NOT NULL THEN row_to_json(l)::text END,
                        CASE WHEN s.ctid IS NOT NULL THEN row_to_json(s)::text END
                     FROM %I.%I AS l FULL JOIN %I.%I AS s ON %s
                     WHERE l.ctid IS NULL OR s.ctid IS NULL OR l *<> s ORDER BY %s LIMIT %s',
                    string_agg(format('%1$L, coalesce(l.%1$I, s.%1$I)', a.attname), ', '),
                    \(live), \(table), \(shadow), \(table),
                    string_agg(format('l.%1$I = s.%1$I', a.attname), ' AND '),
                    string_agg(format('coalesce(l.%1$I, s.%1$I)', a.attname), ', '), \(max(limit, 1))
                )
            FROM pg_index AS i
            -- A primary key may INCLUDE columns that are no part of the key.
            JOIN LATERAL unnest(i.indkey) WITH ORDINALITY AS k (attnum, place) ON k.place <= i.indnkeyatts
            JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
            WHERE i.indrelid = format('%I.%I', \(live), \(table))::regclass AND i.indisprimary
            """
        ).decode((String, String).self)
        guard let (count, differences) = rows.first else { throw ReadModelError.missing }
        return (SQL(unsafeText: count), SQL(unsafeText: differences))
    }
}

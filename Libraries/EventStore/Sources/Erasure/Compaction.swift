internal import Encoding
public import Postgres

/// Rewrites PostgreSQL's files without what they keep of erased persons: row versions that no transaction sees any more, in the tables
/// of the log and of the read models, and values in the planner's statistics. WAL and backups keep their copies.
///
/// A rewrite holds every reader and writer of its table up. While a server runs, one may take ``longestWait``.
///
/// Source: https://www.postgresql.org/docs/current/sql-vacuum.html, under `FULL`.
public struct Compaction: Sendable {
    /// The longest time, in seconds, for which a server's requests wait for one table.
    public static let longestWait = 1.0
    /// Between two tables, so that the requests that waited for one get on before the next.
    private static let pause = Duration.milliseconds(200)
    /// How long transactions that still see the erased rows may go on.
    private static let patience = Duration.seconds(20)
    private static let endPatience = Duration.seconds(1)

    private let client: PostgresClient
    private let readModels: ReadModels
    private let dependencies: Dependencies

    /// - Parameters:
    ///   - readModels: of all modules
    ///   - client: with the rights of the database's owner, not through a pooler; a statement may take `statementTimeoutSeconds` while no
    ///     server runs
    public init(of readModels: ReadModels, client: PostgresClient, dependencies: Dependencies = .system) {
        self.readModels = readModels
        self.client = client
        self.dependencies = dependencies
    }

    /// Rewrites what there is to rewrite. A repetition does all again.
    /// - Throws: ``CompactionRefusal``, after which a part of the tables may be rewritten; `PostgresError`, `CancellationError`
    public func run() async throws {
        if let copy = try await readModels.copyWithoutErasure() { throw CompactionRefusal.behind(copy) }
        try await client.withConnection { connection in
            guard try await connection.query(Self.mayRewriteStatistics).decode(Bool.self) == [true] else {
                throw CompactionRefusal.noRight
            }
            if let reader = try await readerOfErasedRows(connection) { throw CompactionRefusal.seen(by: reader) }
            // PostgreSQL may hold the session of a command that has just ended.
            try await dependencies.sleep(Self.endPatience)
            for table in try await connection.query(Self.tables).decode((String, String, Int64).self) {
                try await rewrite(table, on: connection)
                // The new values replace those of the person, whose row versions the last rewrite leaves out.
                try await connection.query("ANALYZE \(identifier: table.0).\(identifier: table.1)")
                try await dropStatistics(ofEmpty: table, on: connection)
            }
            for catalog in ["pg_statistic", "pg_statistic_ext_data"] {
                try await rewrite(("pg_catalog", catalog, 0), on: connection)
            }
        }
    }

    private typealias Table = (schema: String, name: String, bytes: Int64)

    private func rewrite(_ table: Table, on connection: LeasedConnection) async throws {
        try await limited(table, connection) {
            try await connection.query("VACUUM (FULL) \(identifier: table.schema).\(identifier: table.name)")
        }
    }

    /// ANALYZE leaves the values of an empty table's columns as they were. A new type ends them, also the same one.
    private func dropStatistics(ofEmpty table: Table, on connection: LeasedConnection) async throws {
        let alterations = try await connection.query(
            """
            SELECT string_agg(format('ALTER COLUMN %I TYPE %s', attname, format_type(atttypid, atttypmod)), ', ')
            FROM pg_attribute WHERE attrelid = format('%I.%I', \(table.schema), \(table.name))::regclass
                AND attnum > 0 AND NOT attisdropped
                AND NOT EXISTS (SELECT FROM \(identifier: table.schema).\(identifier: table.name))
            """
        ).decode(String?.self)[0]
        guard let alterations else { return }
        // A row that comes meanwhile makes a rewrite of it, and no harm.
        try await limited(table, connection) {
            try await connection.query(
                "ALTER TABLE \(identifier: table.schema).\(identifier: table.name) \(SQL(unsafeText: alterations))")
        }
    }

    /// Runs a statement that holds a table alone.
    private func limited(_ table: Table, _ connection: LeasedConnection, _ statement: () async throws -> Void) async throws {
        let isServed = try await isServed(connection)
        try await limit(isServed ? Self.longestWait : client.configuration.statementTimeoutSeconds, connection)
        do { try await statement() } catch PostgresError.refused(let refusal) where refusal.sqlState == .queryCanceled {
            throw CompactionRefusal.tooSlow(table: "\(table.schema).\(table.name)", bytes: table.bytes)
        }
        try await limit(client.configuration.statementTimeoutSeconds, connection)
        if isServed { try await dependencies.sleep(Self.pause) }
    }

    private func limit(_ seconds: Double, _ connection: LeasedConnection) async throws {
        try await connection.query("SELECT set_config('statement_timeout', \(String(Int(seconds * 1_000))), false)")
    }

    /// A rewrite copies each row version that some transaction may still see.
    /// - Returns: what sees the rows from before now, after a wait; `nil` if nothing does
    private func readerOfErasedRows(_ connection: LeasedConnection) async throws -> String? {
        let now = try await connection.query("SELECT pg_current_xact_id()::xid::text").decode(String.self)[0]
        let clock = ContinuousClock()
        let deadline = clock.now + Self.patience
        while let found = try await connection.query(Self.readers(since: now)).decode(String.self).first {
            guard clock.now < deadline else { return found }
            try await dependencies.sleep(Self.pause)
        }
        return nil
    }

    private func isServed(_ connection: LeasedConnection) async throws -> Bool {
        let served: SQL = "SELECT schema FROM log.read_models WHERE log.is_held(schema) LIMIT 1"
        return try await connection.query(served).decode(String.self).first != nil
    }

    /// The owner of the database may rewrite the catalogs of the database.
    private static let mayRewriteStatistics: SQL =
        "SELECT pg_has_role(datdba, 'USAGE') FROM pg_database WHERE datname = current_database()"

    /// The tables of the log and of all copies of the read models, with their bytes, small ones first.
    private static let tables: SQL =
        """
        SELECT n.nspname::text, c.relname::text, pg_total_relation_size(c.oid) AS bytes FROM pg_class AS c
        JOIN pg_namespace AS n ON n.oid = c.relnamespace
        WHERE c.relkind = 'r' AND (n.nspname = 'log' OR n.nspname IN (SELECT schema FROM log.read_models)) ORDER BY bytes
        """

    /// What keeps row versions from before a transaction.
    private static func readers(since transaction: String) -> SQL {
        """
        SELECT reader FROM (
            SELECT 'the session ' || pid, backend_xmin FROM pg_stat_activity
            WHERE pid <> pg_backend_pid() AND (datname = current_database() OR datname IS NULL)
            -- A snapshot counts the transactions of all databases.
            UNION ALL SELECT 'the session ' || pid, backend_xid FROM pg_stat_activity
            UNION ALL SELECT 'the prepared transaction ' || gid, transaction FROM pg_prepared_xacts
            UNION ALL SELECT 'the replication slot ' || slot_name, unnest(ARRAY[xmin, catalog_xmin]) FROM pg_replication_slots
        ) AS readers (reader, horizon) WHERE age(horizon) > age(\(transaction)::text::xid) LIMIT 1
        """
    }
}

/// Why PostgreSQL's files keep words of erased persons. The persons are erased all the same.
public enum CompactionRefusal: Error, Hashable, CustomStringConvertible {
    case noRight
    /// The schema of a copy of a read model.
    case behind(String)
    case seen(by: String)
    case tooSlow(table: String, bytes: Int64)

    public var description: String {
        switch self {
        case .noRight:
            "PostgreSQL's files were left as they are: only the owner of the database or a superuser may rewrite the planner's statistics. Connect as one of them."
        case .behind(let schema):
            "PostgreSQL's files were left as they are: \(schema), a copy of a read model, does not have the last erasure yet. Try again when a server of its version has run, or when a rebuild is over; without them the copy goes after a day."
        case .seen(let reader):
            "PostgreSQL's files were left as they are: \(reader) still sees the rows of before the erasure. End it, and try again."
        case .tooSlow(let table, let bytes):
            "PostgreSQL's files keep words of erased persons: \(table), which has \(bytes / 1_000_000) MB, could not be rewritten within a second beside a server, or within an hour. Try again while no server runs, and nothing else uses the table."
        }
    }
}

internal import CLogSchema
public import Postgres

extension Migration {
    /// The tables of the log and whatever else must last: `db/migrations`, which travel inside the program.
    public static let all = [Migration(name: "0001_log", files: [sql_0001_log])]

    /// The functions of the log (`db/functions`) and the rights of the roles (`db/grants.sql`). Raise the number when a release changes
    /// them. A program with a lower number, down to the oldest program, must work with them.
    public static let functions = Migration(
        name: "functions_0001",
        files: [sql_append, sql_erasure, sql_lookups, sql_guards, sql_read_models, sql_grants],
        oldestProgram: "0001_log")

    /// - Parameter files: the byte of a file at an index, and 0 behind its last byte
    private init(name: String, files: [(Int) -> UInt8], oldestProgram: String? = nil) {
        var bytes: [UInt8] = []
        for byte in files { bytes += (0...).lazy.map { byte($0) }.prefix { $0 != 0 } }
        self.init(name: name, sql: String(decoding: bytes, as: UTF8.self), oldestProgram: oldestProgram)
    }
}

/// What a database must have for a program: the log, its functions and rights, and the declarations of the program's read models, from
/// which `log.create_read_model` makes their tables. It needs the rights of the database's owner.
public struct LogSchema: Sendable {
    private let migrator: Migrator
    private let projections: [any Projection.Type]
    private let client: PostgresClient

    /// - Parameter projections: all projections of the program
    public init(projections: [any Projection], client: PostgresClient) {
        migrator = Migrator(migrations: Migration.all, functions: Migration.functions, client: client)
        self.projections = projections.map { type(of: $0) }
        self.client = client
    }

    /// The names of the migrations that this database lacks, and the schemas of read models that are not declared as this program has them.
    /// - Throws: `MigrationError`, `PostgresError`
    public func pending() async throws -> [String] {
        let pending = try await migrator.pending()
        return try await client.withTransaction { connection in
            try await connection.query(Migrator.fixedSearchPath)
            let isThere = try await connection.query("SELECT to_regclass('log.projections') IS NOT NULL").decode(Bool.self)
            return pending + (isThere == [true] ? try await undeclared(on: connection) : projections.map { $0.schema })
        }
    }

    /// Applies what the database lacks.
    /// - Returns: the names, as in ``pending()``
    /// - Throws: `MigrationError`, `PostgresError`
    public func migrate() async throws -> [String] {
        let applied = try await migrator.migrate()
        return try await applied + declare()
    }

    /// Declares the read models in a database that is migrated.
    /// - Returns: the schemas that were not declared so
    /// - Throws: `PostgresError`
    package func declare() async throws -> [String] {
        try await client.withTransaction { connection in
            try await connection.query(Migrator.fixedSearchPath)
            let missing = try await undeclared(on: connection)
            for projection in projections where missing.contains(projection.schema) {
                try await connection.query(
                    """
                    INSERT INTO log.projections AS p (name, version, tables, indexes)
                    VALUES (\(projection.name), \(projection.version), \(projection.tables), \(projection.indexes))
                    ON CONFLICT (name, version) DO UPDATE SET (tables, indexes) = (excluded.tables, excluded.indexes)
                    """)
            }
            return missing
        }
    }

    private func undeclared(on connection: LeasedConnection) async throws -> [String] {
        let declared = try await connection.query("SELECT name, version, tables, indexes FROM log.projections").decode(
            (String, Int32, String, String).self)
        return projections.filter { projection in
            !declared.contains { $0 == (projection.name, projection.version, projection.tables, projection.indexes) }
        }.map { $0.schema }
    }
}

/// One change to the tables of a database.
public struct Migration: Sendable, Hashable {
    /// Migrations are applied in the order of their names.
    public var name: String
    public var sql: String
    /// The last migration of the oldest program that may run on a database with this one; `nil` for no older program.
    public var oldestProgram: String?

    public init(name: String, sql: String, oldestProgram: String? = nil) {
        self.name = name
        self.sql = sql
        self.oldestProgram = oldestProgram
    }
}

/// Why a database's migrations and this program's do not fit together.
public enum MigrationError: Error, Hashable, CustomStringConvertible {
    case changed(name: String)
    case unknown(name: String)
    case outOfOrder(name: String, after: String)
    /// What PostgreSQL said of a migration, which holds no values of users.
    case failed(name: String, message: String)
    case notUTF8(encoding: String)

    public var description: String {
        switch self {
        case .changed(let name):
            "Migration \(name) of this database has another text than that of this program, as in a database from before the first "
                + "release: nothing was changed. Run the version that made the database. To bring its data over, export them with that "
                + "version, and import them into a new database with this one."
        case .unknown(let name):
            "Migration \(name) was applied to this database but this program does not know it: run a newer program."
        case .outOfOrder(let name, let after):
            "Migration \(name) is not applied but the later \(after) is: number a new migration after all older ones."
        case .notUTF8(let encoding):
            "The database has the encoding \(encoding), which cannot hold every text: make one with UTF-8 "
                + "(CREATE DATABASE name TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C'), and name it in the URL."
        case .failed(let name, let message): "Migration \(name) failed and was rolled back: \(message)"
        }
    }
}

/// Applies migrations in order, each in a transaction under a lock, and records them with a checksum (SHA-256, in hex).
///
/// Functions and rights are one script, which runs again every time: a restored dump lacks roles, and a function may have been changed by
/// hand. The name of the script, `functions_NNNN`, is recorded like that of a migration. An older program leaves the functions of a
/// higher number alone.
public struct Migrator: Sendable {
    private static let functionsPrefix = "functions_"

    private let migrations: [Migration]
    /// Must come to the same when run again, and should lock no table.
    private let functions: Migration?
    private let client: PostgresClient

    public init(migrations: [Migration], functions: Migration? = nil, client: PostgresClient) {
        precondition(functions?.name.hasPrefix(Self.functionsPrefix) ?? true)
        self.migrations = migrations.sorted { $0.name < $1.name }
        self.functions = functions
        self.client = client
    }

    /// The names of the migrations that this database lacks, in order, and that of functions with another text. A newer program may have
    /// applied further ones, if they allow this program.
    /// - Throws: ``MigrationError``, ``PostgresError``
    public func pending() async throws -> [String] {
        let state = try await client.withTransaction { connection in
            try await connection.query(Self.fixedSearchPath)
            try await requireUTF8(connection)
            return try await self.state(connection)
        }
        return state.pending.map(\.name) + (state.lacksFunctions ? [functions].compactMap { $0?.name } : [])
    }

    /// Only the objects of PostgreSQL itself have a name without a schema. Otherwise a role that may create a schema could put a function
    /// in the way of one that the owner's statements name. For one transaction: a pooler keeps no session.
    public static let fixedSearchPath: SQL = "SET LOCAL search_path = pg_catalog, pg_temp"

    private func requireUTF8(_ connection: LeasedConnection) async throws {
        let encodings = try await connection.query("SELECT current_setting('server_encoding')").decode(String.self)
        if let other = encodings.first(where: { $0 != "UTF8" }) { throw MigrationError.notUTF8(encoding: other) }
    }

    /// Applies what the database lacks and answers the names.
    /// - Throws: ``MigrationError``
    public func migrate() async throws -> [String] {
        do { try await makeTable() } catch let error as PostgresError where error.sqlState == .uniqueViolation {
            // Another program made it at the same moment.
            try await makeTable()
        }
        var applied: [String] = []
        while true {
            let (names, isLast) = try await locked { try await applyNext($0) }
            applied += names
            if isLast { return applied }
        }
    }

    private func makeTable() async throws {
        try await client.withTransaction { connection in
            try await connection.query(Self.fixedSearchPath)
            try await requireUTF8(connection)
            try await connection.query("CREATE SCHEMA IF NOT EXISTS humon")
            try await connection.query(
                """
                CREATE TABLE IF NOT EXISTS humon.migrations (
                    name text PRIMARY KEY,
                    checksum text NOT NULL,
                    applied_at timestamptz NOT NULL DEFAULT now(),
                    oldest_program text
                )
                """
            )
        }
    }

    /// One transaction a migration, so that a failing one leaves those before it applied. The functions run in the transaction of the
    /// last migration, so that the functions fit the tables at every moment.
    private func applyNext(_ connection: LeasedConnection) async throws -> (names: [String], isLast: Bool) {
        let state = try await self.state(connection)
        var names: [String] = []
        if let next = state.pending.first {
            try await apply(next, connection)
            names.append(next.name)
        }
        guard state.pending.count <= 1 else { return (names, false) }
        // The functions of a newer program stay: those of this one may name what is no more.
        if let functions, !state.isOfNewerProgram {
            try await apply(functions, connection)
            if state.lacksFunctions { names.append(functions.name) }
        }
        return (names, true)
    }

    private func apply(_ migration: Migration, _ connection: LeasedConnection) async throws {
        do {
            try await connection.execute(script: migration.sql)
        } catch PostgresError.refused(let refusal) {
            throw MigrationError.failed(name: migration.name, message: refusal.unredactedMessage)
        }
        // Only the functions may be recorded already.
        try await connection.query(
            """
            INSERT INTO humon.migrations AS m (name, checksum, oldest_program)
            SELECT \(migration.name), encode(sha256(\(Bytea(bytes: migration.sql.utf8))), 'hex'), nullif(\(migration.oldestProgram ?? ""), '')
            ON CONFLICT (name) DO UPDATE SET (checksum, applied_at, oldest_program)
                = (excluded.checksum, excluded.applied_at, excluded.oldest_program)
            WHERE m.checksum <> excluded.checksum
            """
        )
    }

    /// - Returns: also whether the database lacks this text of the functions
    private func state(
        _ connection: LeasedConnection
    ) async throws -> (pending: [Migration], lacksFunctions: Bool, isOfNewerProgram: Bool) {
        let hasTable = try await connection.query("SELECT to_regclass('humon.migrations') IS NOT NULL").decode(Bool.self)
        // A program from before the first release made the table without the column.
        let applied =
            hasTable == [true]
            ? try await connection.query(
                "SELECT name, checksum, to_jsonb(m) ->> 'oldest_program' FROM humon.migrations AS m ORDER BY name"
            ).decode((String, String, String?).self) : []
        let own = migrations + [functions].compactMap(\.self)
        let texts = own.map { Bytea(bytes: $0.sql.utf8) }
        let checksums = try await connection.query(
            "SELECT encode(sha256(t.text), 'hex') FROM unnest(\(texts)) WITH ORDINALITY AS t (text, ordinal) ORDER BY t.ordinal"
        ).decode(String.self)
        let known = Dictionary(uniqueKeysWithValues: zip(own.map(\.name), checksums))
        let newest = migrations.last?.name ?? ""
        let functionsName = functions?.name ?? ""
        var (lacksFunctions, isOfNewerProgram) = (functions != nil, false)
        for (name, checksum, oldestProgram) in applied {
            if name == functionsName {
                lacksFunctions = known[name] != checksum
            } else if let own = known[name] {
                guard own == checksum else { throw MigrationError.changed(name: name) }
            } else if !name.hasPrefix(Self.functionsPrefix) || functionsName < name {
                guard let oldestProgram, oldestProgram <= newest else { throw MigrationError.unknown(name: name) }
                isOfNewerProgram = true
            }
        }
        let names = applied.map(\.0).filter { !$0.hasPrefix(Self.functionsPrefix) }
        let pending = migrations.filter { !names.contains($0.name) }
        if let first = pending.first, let last = names.last, first.name < last {
            throw MigrationError.outOfOrder(name: first.name, after: last)
        }
        return (pending, lacksFunctions && !isOfNewerProgram, isOfNewerProgram)
    }

    /// One transaction under the lock, however long it takes.
    private func locked<Value>(_ body: (LeasedConnection) async throws -> Value) async throws -> Value {
        try await client.withLongTransaction { connection in
            try await connection.query(Self.fixedSearchPath)
            // A role that may only read cannot take this lock, and reads beside it.
            try await connection.query("LOCK TABLE humon.migrations IN SHARE ROW EXCLUSIVE MODE")
            return try await body(connection)
        }
    }
}

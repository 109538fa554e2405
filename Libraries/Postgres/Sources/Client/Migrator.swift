/// One change to what must last in a database: `db/migrations/NNNN_name.sql`.
public struct Migration: Sendable, Hashable {
    /// The file's name without its ending; migrations are applied in the order of these.
    public var name: String
    public var sql: String
    /// Runs before `sql` in the same transaction. It belongs to no checksum, so it can mend a database for which the text of an applied
    /// migration fails.
    public var preparation: String?
    /// The last migration of the oldest program that may run on a database with this one; `nil` for no older program.
    public var oldestProgram: String?

    public init(name: String, sql: String, preparation: String? = nil, oldestProgram: String? = nil) {
        self.name = name
        self.sql = sql
        self.preparation = preparation
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

    public var description: String {
        switch self {
        case .changed(let name):
            "Migration \(name) was applied to this database with another text than this program has: never change an applied "
                + "migration, add a new one."
        case .unknown(let name):
            "Migration \(name) was applied to this database but this program does not know it: run a newer humon."
        case .outOfOrder(let name, let after):
            "Migration \(name) is not applied but the later \(after) is: number a new migration after all older ones."
        case .failed(let name, let message): "Migration \(name) failed and was rolled back: \(message)"
        }
    }
}

/// Applies migrations in order, each in a transaction under a lock, and records them with a checksum (SHA-256, in hex).
public struct Migrator: Sendable {
    private let migrations: [Migration]
    /// Run after the migrations, every time; must come to the same when run again.
    private let repeatable: Migration?
    private let client: PostgresClient

    public init(migrations: [Migration], repeatable: Migration? = nil, client: PostgresClient) {
        self.migrations = migrations.sorted { $0.name < $1.name }
        self.repeatable = repeatable
        self.client = client
    }

    /// The names of the migrations that this database lacks, in order. A newer program may have applied further ones, if they allow this
    /// program.
    /// - Throws: ``MigrationError``, ``PostgresError``
    public func pending() async throws -> [String] {
        try await client.withConnection { connection in
            let hasTable = try await connection.query("SELECT to_regclass('humon.migrations') IS NOT NULL").decode(Bool.self)
            guard hasTable == [true] else { return migrations.map(\.name) }
            return try await state(connection).pending.map(\.name)
        }
    }

    /// Applies what the database lacks and answers the names.
    /// - Throws: ``MigrationError``
    public func migrate() async throws -> [String] {
        try await locked { connection in
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
            let columns = try await connection.query(
                "SELECT attname::text FROM pg_attribute WHERE attrelid = 'humon.migrations'::regclass"
            ).decode(String.self)
            // Only then, because the statement waits for a dump that reads the table.
            if !columns.contains("oldest_program") {
                try await connection.query("ALTER TABLE humon.migrations ADD COLUMN oldest_program text")
            }
        }
        var applied: [String] = []
        while let name = try await applyNext() { applied.append(name) }
        if let repeatable {
            try await locked { connection in
                // The grants of a newer program stay: those of this one may name what is no more.
                guard try await !state(connection).isOfNewerProgram else { return }
                try await apply(repeatable, connection)
            }
        }
        return applied
    }

    /// One transaction a migration, so that a failing one leaves those before it applied.
    private func applyNext() async throws -> String? {
        try await locked { connection in
            guard let next = try await state(connection).pending.first else { return nil }
            try await apply(next, connection)
            try await connection.query(
                """
                INSERT INTO humon.migrations (name, checksum, oldest_program)
                SELECT \(next.name), encode(sha256(\(Bytea(bytes: next.sql.utf8))), 'hex'), nullif(\(next.oldestProgram ?? ""), '')
                """
            )
            return next.name
        }
    }

    private func apply(_ migration: Migration, _ connection: LeasedConnection) async throws {
        do {
            if let preparation = migration.preparation { try await connection.execute(script: preparation) }
            try await connection.execute(script: migration.sql)
        } catch PostgresError.refused(let refusal) {
            throw MigrationError.failed(name: migration.name, message: refusal.unredactedMessage)
        }
    }

    private func state(
        _ connection: LeasedConnection
    ) async throws -> (pending: [Migration], isOfNewerProgram: Bool) {
        // An older program made the table without the column.
        let applied = try await connection.query(
            "SELECT name, checksum, to_jsonb(m) ->> 'oldest_program' FROM humon.migrations AS m ORDER BY name"
        ).decode((String, String, String?).self)
        let texts = migrations.map { Bytea(bytes: $0.sql.utf8) }
        let checksums = try await connection.query(
            "SELECT encode(sha256(t.text), 'hex') FROM unnest(\(texts)) WITH ORDINALITY AS t (text, ordinal) ORDER BY t.ordinal"
        ).decode(String.self)
        let known = Dictionary(uniqueKeysWithValues: zip(migrations.map(\.name), checksums))
        let newest = migrations.last?.name ?? ""
        var isOfNewerProgram = false
        for (name, checksum, oldestProgram) in applied {
            guard let own = known[name] else {
                guard let oldestProgram, oldestProgram <= newest else { throw MigrationError.unknown(name: name) }
                isOfNewerProgram = true
                continue
            }
            guard own == checksum else { throw MigrationError.changed(name: name) }
        }
        let names = Set(applied.map(\.0))
        let pending = migrations.filter { !names.contains($0.name) }
        if let first = pending.first, let last = applied.last?.0, first.name < last {
            throw MigrationError.outOfOrder(name: first.name, after: last)
        }
        return (pending, isOfNewerProgram)
    }

    /// One transaction under the lock, however long it takes.
    private func locked<Value>(_ body: (LeasedConnection) async throws -> Value) async throws -> Value {
        try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in
                // 'humon', as bytes, and 2; appends use 1.
                try await connection.query("SELECT pg_advisory_xact_lock(x'0068756d6f6e02'::bigint)")
                return try await body(connection)
            }
        }
    }
}

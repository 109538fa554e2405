public import Postgres

/// The versions of the program that serve on a database, with the stored formats that each reads and writes.
///
/// Every server holds an advisory lock with the key of its version. So PostgreSQL knows the serving versions without a heartbeat.
public struct FormatRegistry: Sendable {
    /// The first key of the locks: "humf".
    private static let lockClass: Int32 = 0x6875_6D66
    /// The second key of the lock that a server holds while it enters. No version has this key.
    private static let entranceKey: Int32 = 0

    public let program: ProgramFormats
    private let client: PostgresClient

    public init(_ program: ProgramFormats, client: PostgresClient) {
        self.program = program
        self.client = client
    }

    /// Inserts the formats of this version, unless another server of the version has done so.
    /// - Throws: `PostgresError`
    public func register() async throws {
        let entries = program.entries
        try await client.query(
            """
            INSERT INTO log.program_formats (program, category, type, readable, written)
            SELECT \(program.key), * FROM unnest(
                \(entries.map(\.category)), \(entries.map(\.type)), \(entries.map(\.readable)), \(entries.map(\.written))
            )
            ON CONFLICT DO NOTHING
            """
        )
    }

    /// The versions that serve now, without this one.
    /// - Throws: `PostgresError`
    func serving() async throws -> [ProgramFormats] { try await serving(client) }

    private func serving(_ database: some PostgresQuerying) async throws -> [ProgramFormats] {
        let rows = try await database.query(
            """
            SELECT program, category, type, readable, written FROM log.program_formats
            WHERE program <> \(program.key) AND program IN (
                SELECT objid::bigint FROM pg_locks
                WHERE locktype = 'advisory' AND classid::bigint = \(Int64(Self.lockClass)) AND objsubid = 2 AND granted
                    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
            )
            """
        ).decode((Int32, String, String, Int16, Int16?).self)
        return Dictionary(grouping: rows, by: \.0).sorted { $0.key < $1.key }.map { _, rows in
            ProgramFormats(
                entries: rows.map { _, category, type, readable, written in
                    ProgramFormats.Entry(category: category, type: type, readable: readable, written: written)
                })
        }
    }

    /// The first conflict between this program and a serving version; nil if there is none.
    /// - Throws: `PostgresError`
    public func conflict() async throws -> FormatConflict? { FormatConflict(of: program, with: try await serving()) }

    /// How many versions of the program serve, beside this one.
    /// - Throws: `PostgresError`
    public func servingCount() async throws -> Int { try await serving().count }

    /// Checks for a conflict with the serving versions, then registers this one.
    /// - Throws: ``FormatConflict``, `PostgresError`
    public func prepare() async throws {
        if let conflict = try await conflict() { throw conflict }
        try await register()
    }

    /// Holds the lock of this version while `body` runs, on the connection that `body` gets.
    ///
    /// One server enters at a time: it takes the lock of its version and looks for the others before the next server does either. So of
    /// two versions in conflict the second sees the first, and the first does not see the second.
    /// - Parameter body: also takes the first conflict with the versions that served before this one
    func whileServing(_ body: (LeasedConnection, FormatConflict?) async throws -> Void) async throws {
        guard client.configuration.isPooled else {
            return try await client.withConnection { connection in
                let result: Result<Void, any Error>
                do {
                    result = .success(try await body(connection, try await enter(by: "pg_advisory_lock_shared", on: connection)))
                } catch { result = .failure(error) }
                // Where that fails the client closes the connection, and the lock ends with its session.
                do { try await connection.query("SELECT pg_advisory_unlock_shared(\(Self.lockClass), \(program.key))") } catch {
                    try result.get()
                    throw error
                }
                try result.get()
            }
        }
        // A pooler in transaction mode keeps a session for one transaction only. This transaction has no snapshot while it is idle.
        try await client.withTransaction { connection in
            try await connection.query("SET LOCAL idle_in_transaction_session_timeout = 0")
            try await body(connection, try await enter(by: "pg_advisory_xact_lock_shared", on: connection))
        }
    }

    /// Takes the lock of this version, and then looks for a conflict, while no other server does so.
    /// - Parameter function: takes the lock for the session, or for its transaction
    private func enter(by function: SQL, on connection: LeasedConnection) async throws -> FormatConflict? {
        try await client.withTransaction { entrance in
            try await entrance.query("SELECT pg_advisory_xact_lock(\(Self.lockClass), \(Self.entranceKey))")
            try await connection.query("SELECT \(function)(\(Self.lockClass), \(program.key))")
            return FormatConflict(of: program, with: try await serving(entrance))
        }
    }
}

public import Logging
public import Postgres
public import ServiceLifecycle

/// What the programs of a database know of each other: which versions serve, with the stored formats that each reads and writes, and which
/// read models they answer from.
///
/// Every server holds ``AdvisoryLocks`` for both, shared.
public struct RunningPrograms: Service {
    /// The first key of the locks of versions: "humf".
    private static let lockClass: Int32 = 0x6875_6D66
    /// The second key of the lock that a server holds while it enters. No version has this key.
    private static let entranceKey: Int32 = 0
    private static let silenceSeconds = 60.0

    public let program: ProgramFormats
    private let readModels: [String]
    private let client: PostgresClient
    private let logger: Logger

    /// - Parameters:
    ///   - program: the formats of this program
    ///   - readModels: that this program answers from while ``run()`` runs
    ///   - client: ``run()`` takes one of its connections for good
    public init(_ program: ProgramFormats, readModels: ReadModels? = nil, client: PostgresClient, logger: Logger) {
        self.program = program
        self.readModels = readModels?.schemas ?? []
        self.client = client
        self.logger = logger
    }

    /// Checks for a conflict with the serving versions, then registers this one.
    /// - Throws: ``FormatConflict``, `PostgresError`
    public func prepare() async throws {
        if let conflict = try await conflict() { throw conflict }
        try await register()
    }

    /// The first conflict between this program and a serving version; nil if there is none.
    /// - Throws: `PostgresError`
    public func conflict() async throws -> FormatConflict? { FormatConflict(of: program, with: try await serving()) }

    /// How many versions of the program serve, beside this one.
    /// - Throws: `PostgresError`
    public func servingCount() async throws -> Int { try await serving().count }

    /// The versions that serve now, without this one.
    /// - Throws: `PostgresError`
    func serving(on database: (any PostgresQuerying)? = nil) async throws -> [ProgramFormats] {
        let rows = try await (database ?? client).query(
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

    /// Inserts the formats of this version, unless another server of the version has done so.
    private func register() async throws {
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

    // MARK: Serving

    /// Holds the locks while a server runs.
    /// - Throws: ``FormatConflict`` where another version has begun to serve since this one was prepared, and
    ///   ``ReadModelError/missing`` where a read model was dropped since then. Later both are logged.
    public func run() async throws {
        try await cancelWhenGracefulShutdown { [self] in
            var (hasServed, isAway, logged) = (false, false, FormatConflict?.none)
            var backOff = BackOff(firstSeconds: 0.25, longestSeconds: 5)
            while !Task.isCancelled {
                do {
                    try await register()
                    try await AdvisoryLocks.with(
                        client, silenceSeconds: Self.silenceSeconds,
                        take: { connection, scope in
                            let conflict = try await enter(connection, scope)
                            if let conflict, !hasServed { throw conflict }
                            if let conflict, conflict != logged {
                                logger.critical("another version of the program serves", metadata: ["error": "\(conflict)"])
                            }
                            (hasServed, isAway, logged) = (true, false, conflict)
                            backOff.reset()
                        },
                        work: { _ in while true { try await Task.sleep(for: .seconds(3_600)) } })
                } catch let conflict as FormatConflict {
                    throw conflict
                } catch ReadModelError.missing where !hasServed {
                    throw ReadModelError.missing
                } catch is CancellationError {
                    return
                } catch {
                    // Once for an outage.
                    if !isAway { logger.warning("not known as serving; trying again", metadata: ["error": "\(error)"]) }
                    isAway = true
                    try? await Task.sleep(for: backOff.next())
                }
            }
        }
    }

    /// Takes the locks, and then looks for a conflict, while no other server does so. So of two versions in conflict the second sees the
    /// first, and the first does not see the second.
    private func enter(_ connection: LeasedConnection, _ scope: SQL) async throws -> FormatConflict? {
        try await client.withTransaction { entrance in
            try await entrance.query("SELECT pg_advisory_xact_lock(\(Self.lockClass), \(Self.entranceKey))")
            try await connection.query("SELECT pg_advisory_\(scope)lock_shared(\(Self.lockClass), \(program.key))")
            for schema in readModels {
                try await connection.query(
                    "SELECT pg_advisory_\(scope)lock_shared(\(ReadModels.lockClass), hashtext(\(schema)))")
            }
            // Nobody drops a read model that is held, so one look is enough.
            let held = try await ReadModels.positions(of: readModels, on: connection)
            guard held.count == readModels.count else { throw ReadModelError.missing }
            return FormatConflict(of: program, with: try await serving(on: entrance))
        }
    }
}

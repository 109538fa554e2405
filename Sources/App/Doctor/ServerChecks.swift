internal import Encoding
internal import EventStore
internal import Foundation
internal import Postgres

/// Checks PostgreSQL, its machine, and the migrations.
struct ServerChecks: Sendable {
    static let archiveName = "wal archive"
    static let oldestVersion: Int32 = 150_000
    /// A slower database delays every request.
    static let slowQuerySeconds = 0.05
    static let clockToleranceSeconds = 1.0
    /// With less space PostgreSQL may refuse appends or stop.
    static let leastFreeBytes: Int64 = 512 << 20
    /// In addition to the size of the database, which is an upper limit for a rebuild of all read models.
    static let comfortableFreeBytes: Int64 = 1 << 30

    let client: PostgresClient

    /// - Throws: `PostgresError`
    func database() async throws -> DoctorLine {
        let (version, number) = try await client.query(
            "SELECT current_setting('server_version'), current_setting('server_version_num')::integer"
        ).decode((String, Int32).self)[0]
        let seconds = try await fastest { try await client.query("SELECT 1") }.seconds
        return Self.database(version: version, number: number, querySeconds: seconds)
    }

    static func database(version: String, number: Int32, querySeconds: Double) -> DoctorLine {
        let result = "PostgreSQL \(version); a query takes \(Figure.duration(seconds: querySeconds))"
        if number < oldestVersion { return DoctorLine("database", .bad, result, hint: "Upgrade PostgreSQL to 15 or later.") }
        guard querySeconds > slowQuerySeconds else { return DoctorLine("database", .ok, result) }
        return DoctorLine("database", .warn, result, hint: "Move humon nearer to the database, or look for the load on it.")
    }

    /// - Throws: `PostgresError`
    func durability() async throws -> DoctorLine {
        let off = try await Backend.unsafeSettings(client)
        guard !off.isEmpty else { return DoctorLine("durability", .ok, "acknowledged writes are on disk") }
        return DoctorLine(
            "durability", .warn, "a crash can lose acknowledged writes: \(off.joined(separator: ", ")) off",
            hint: "Set \(off.joined(separator: ", ")) = on in PostgreSQL's configuration, and reload it.")
    }

    func migrations() async -> DoctorLine {
        do {
            let pending = try await LogSchema(projections: Backend.projections, client: client).pending()
            guard !pending.isEmpty else { return DoctorLine("migrations", .ok, "all applied") }
            return DoctorLine("migrations", .bad, "missing: \(pending.joined(separator: ", "))", hint: "Run humon migrate.")
        } catch let error as MigrationError {
            let hint =
                switch error {
                case .notUTF8: "Humon needs a database with the encoding UTF8."
                case .changed:
                    "Run the version of humon that made this database. Its humon log export FILE, and humon log import FILE of this "
                        + "version into a new database, bring the data over."
                case .unknown, .outOfOrder, .failed: "Run the version of humon that this database belongs to."
                }
            return DoctorLine("migrations", .bad, error.description, hint: hint)
        } catch {
            return DoctorLine("migrations", .bad, "the check failed: \(error)", hint: "Run humon migrate.")
        }
    }

    /// - Parameter directory: the directory of the private cluster; `nil` for another database
    /// - Throws: `PostgresError`; `Errno` if the file system has no figures
    func disk(directory: String?) async throws -> DoctorLine {
        let size = try await client.query("SELECT pg_database_size(current_database())").decode(Int64.self)[0]
        let logSize = try await LogReader(client: client).size()
        return Self.disk(databaseBytes: size, logBytes: logSize, freeBytes: try directory.map(SystemCalls.freeBytes))
    }

    /// Checks the disk when the database is away, for which a full disk may be the reason. Returns `nil` if it cannot read the directory.
    static func disk(withoutDatabase directory: String) -> DoctorLine? {
        guard let freeBytes = try? SystemCalls.freeBytes(in: directory) else { return nil }
        return disk("\(Figure.size(bytes: freeBytes)) free; the size of the database is unknown", freeBytes: freeBytes)
    }

    static func disk(databaseBytes: Int64, logBytes: Int64, freeBytes: Int64?) -> DoctorLine {
        let sizes = "the database has \(Figure.size(bytes: databaseBytes)), \(Figure.size(bytes: logBytes)) of it the log"
        guard let freeBytes else { return DoctorLine("disk", .ok, "\(sizes); its free space is visible only on its machine") }
        return disk("\(Figure.size(bytes: freeBytes)) free; \(sizes)", databaseBytes: databaseBytes, freeBytes: freeBytes)
    }

    private static func disk(_ result: String, databaseBytes: Int64 = 0, freeBytes: Int64) -> DoctorLine {
        let hint = "Free space on the disk of HUMON_DATA, or move the directory to a larger disk."
        if freeBytes < leastFreeBytes { return DoctorLine("disk", .bad, result, hint: hint) }
        guard freeBytes < databaseBytes + comfortableFreeBytes else { return DoctorLine("disk", .ok, result) }
        return DoctorLine("disk", .warn, "\(result): too little for a rebuild of the read models", hint: hint)
    }

    /// Checks that PostgreSQL can archive its WAL, if it is to.
    /// - Throws: `PostgresError`
    func archive() async throws -> DoctorLine {
        let (mode, failures, segment, fails, archivedAt) = try await client.query(
            """
            SELECT current_setting('archive_mode'), failed_count, coalesce(last_failed_wal, ''),
                coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false), last_archived_time
            FROM pg_stat_archiver
            """
        ).decode((String, Int64, String, Bool, Timestamp?).self)[0]
        return Self.archive(mode: mode, failures: failures, segment: segment, fails: fails, archivedAt: archivedAt)
    }

    /// - Parameters:
    ///   - failures: since PostgreSQL began to count
    ///   - segment: the segment of the last failure
    ///   - fails: whether the last attempt failed
    static func archive(mode: String, failures: Int64, segment: String, fails: Bool, archivedAt: Timestamp?) -> DoctorLine {
        guard mode != "off" else { return DoctorLine(archiveName, .ok, "PostgreSQL archives no WAL") }
        guard fails else {
            let result = archivedAt.map { "the newest segment was archived at \($0)" } ?? "nothing was archived yet"
            return DoctorLine(archiveName, .ok, result)
        }
        let since = archivedAt.map { "nothing was archived since \($0)" } ?? "nothing was ever archived"
        return DoctorLine(
            archiveName, .bad, "\(since); failures: \(Figure.grouped(failures)), the last with \(segment)",
            hint: "PostgreSQL's log says why, for example no space in the archive, or another owner of it. "
                + "Meanwhile PostgreSQL keeps all WAL, until its own disk is full.")
    }

    /// - Throws: `PostgresError`
    func clock() async throws -> DoctorLine {
        let (answer, seconds, askedAt) = try await fastest {
            try await client.query("SELECT (extract(epoch FROM clock_timestamp()))::float8").decode(Double.self)[0]
        }
        let last = try await LogReader(client: client).newest()?.envelope.recordedAt
        return Self.clock(
            ahead: askedAt.timeIntervalSince1970 + seconds / 2 - answer, uncertainty: seconds / 2,
            newestAhead: last.map { Double($0.milliseconds) / 1_000 - answer })
    }

    /// - Parameters:
    ///   - ahead: the lead over the database's clock, in seconds, measured to within the uncertainty
    ///   - newestAhead: the lead of the newest recorded time over the database's clock, in seconds
    static func clock(ahead: Double, uncertainty: Double, newestAhead: Double?) -> DoctorLine {
        let hint = "Synchronise the clocks of both machines by NTP."
        guard abs(ahead) - uncertainty <= clockToleranceSeconds else {
            let direction = ahead > 0 ? "ahead of" : "behind"
            return DoctorLine(
                "clock", .bad, "this machine is \(Figure.duration(seconds: abs(ahead))) \(direction) the database", hint: hint)
        }
        if let newestAhead, newestAhead > clockToleranceSeconds {
            return DoctorLine(
                "clock", .bad, "the newest recorded event is \(Figure.duration(seconds: newestAhead)) in the future",
                hint: hint)
        }
        let difference = max(abs(ahead), uncertainty)
        return DoctorLine("clock", .ok, "at most \(Figure.duration(seconds: difference)) between this machine and the database")
    }

    /// The fastest of five runs, because the first run prepares the statement.
    private func fastest<Value>(_ body: () async throws -> Value) async throws -> (value: Value, seconds: Double, at: Date) {
        var best: (value: Value, seconds: Double, at: Date)?
        for _ in 0..<5 {
            let (clock, date) = (ContinuousClock(), Date())
            let start = clock.now
            let value = try await body()
            let seconds = (clock.now - start) / .seconds(1)
            if seconds < best?.seconds ?? .infinity { best = (value, seconds, date) }
        }
        guard let best else { preconditionFailure("five runs have a fastest one") }
        return best
    }
}

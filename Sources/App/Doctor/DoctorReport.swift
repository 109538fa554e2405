internal import EventStore
internal import Foundation
internal import Logging
internal import Postgres
internal import Synchronization

/// All checks of the doctor, in the order of their lines. They change nothing.
enum DoctorReport {
    /// The number of the newest positions that the doctor reads; `humon log verify` reads all positions.
    static let newestPositions: Int64 = 100_000

    /// The names of all checks, in their order.
    static let names =
        [
            "settings", "database", "durability", "migrations", "grants", "disk", ServerChecks.archiveName, "log",
            LogChecks.lockName, "formats", "sequences",
        ]
        + ReadModelChecks.names
        + [IndexCheck.name, "subscriptions", ErasureFileCheck.name, "clock"]

    /// - Parameter show: gets each check as soon as it ends
    /// - Throws: the errors of `show`, and ``CommandFailure`` if a private cluster does not stop
    static func run(_ database: DatabaseOptions, _ show: @escaping @Sendable (DoctorLine) throws -> Void) async throws {
        let (settings, check) = SettingsCheck.look(database)
        try show(check)
        guard let settings else { return try notLookedAt("the settings cannot be used", from: "database").forEach(show) }
        // The lines report the problems.
        let logger = Logger.humon(.critical)
        let isReached = Mutex(false)
        do {
            try await Database.with(settings, .existing, logger: logger) { database in
                try await withPostgres(database.asWhoeverMayLook(logger: logger), logger: logger) { client in
                    try await client.query("SELECT 1")
                    isReached.withLock { $0 = true }
                    try await look(at: client, settings, show)
                }
            }
        } catch {
            guard !isReached.withLock(\.self) else { throw error }
            let disk = settings.databaseURL == nil ? ServerChecks.disk(withoutDatabase: settings.data) : nil
            try show(notReached("\(error)", isPrivate: settings.databaseURL == nil, isDiskFull: disk?.state == .bad))
            for check in notLookedAt("no database was reached", from: "durability") {
                try show(check.name == disk?.name ? disk ?? check : check)
            }
        }
    }

    static func notReached(_ error: String, isPrivate: Bool, isDiskFull: Bool) -> DoctorLine {
        let hint =
            switch (isPrivate, isDiskFull) {
            case (true, true): "Free space on the disk of HUMON_DATA first: PostgreSQL does not work without it."
            case (true, false): "Start humon serve, or name another directory in HUMON_DATA."
            case (false, _): "Check that PostgreSQL runs, and that DATABASE_URL and the network lead to it."
            }
        return DoctorLine("database", .bad, error, hint: hint)
    }

    private static func look(at client: PostgresClient, _ settings: Settings, _ show: (DoctorLine) throws -> Void) async throws {
        let (server, log, models) = (ServerChecks(client: client), LogChecks(client: client), ReadModelChecks(client: client))
        try show(await DoctorLine.looking(at: "database") { try await server.database() })
        try show(await DoctorLine.looking(at: "durability") { try await server.durability() })
        try show(await DoctorLine.looking(at: "migrations") { await server.migrations() })
        try show(await DoctorLine.looking(at: "grants") { try await log.rights() })
        let directory = settings.databaseURL == nil ? settings.data : nil
        try show(await DoctorLine.looking(at: "disk") { try await server.disk(directory: directory) })
        try show(await DoctorLine.looking(at: ServerChecks.archiveName) { try await server.archive() })
        try show(await DoctorLine.looking(at: "log") { try await log.newest() })
        try show(await DoctorLine.looking(at: LogChecks.lockName) { try await log.lock() })
        try show(await DoctorLine.looking(at: "formats") { try await log.formats() })
        try show(await DoctorLine.looking(at: "sequences") { try await log.sequences() })
        try await models.readModels().forEach(show)
        try show(await IndexCheck(settings: settings, client: client).look())
        try show(await DoctorLine.looking(at: "subscriptions") { try await models.subscriptions() })
        try show(await ErasureFileCheck(path: settings.erasures, client: client).look())
        try show(await DoctorLine.looking(at: "clock") { try await server.clock() })
    }

    /// The check with this name and all later ones, so that the screen always has the same lines.
    private static func notLookedAt(_ reason: String, from first: String) -> [DoctorLine] {
        names.drop { $0 != first }.map { DoctorLine($0, .warn, "not checked: \(reason)") }
    }
}

extension Database {
    /// A configuration with the reading role. If the role does not exist or the user is no member, the configuration has the user's own
    /// rights, so that the doctor can check a database that was never migrated. Its transactions refuse to write.
    fileprivate func asWhoeverMayLook(logger: Logger) async throws -> PostgresConfiguration {
        var configuration = asReader(connections: 2)
        // The planner chooses: the statements of the doctor need no index.
        configuration.sessionSettings["enable_seqscan"] = nil
        configuration.acquireTimeoutSeconds = Double(configuration.connectTimeoutSeconds)
        if let role = configuration.role, try await configuration.membership(in: role, logger: logger).isMember != true {
            configuration.role = nil
        }
        return configuration
    }
}

internal import Foundation
internal import Logging
internal import Postgres
internal import Synchronization

/// Everything that the doctor looks at, in the order of its screen. Changes nothing.
enum DoctorReport {
    /// So many of the newest positions are looked at; `humon log verify` looks at all.
    static let newestPositions: Int64 = 100_000

    /// Of all checks, in their order.
    static let names =
        ["settings", "database", "durability", "migrations", "grants", "disk", "log", "formats", "sequences"]
        + ReadModelChecks.names
        + [IndexCheck.name, "subscriptions", "clock"]

    /// - Parameter show: is given each check as soon as it is known
    /// - Throws: what `show` throws, and ``EmbeddedPostgresError`` where a private cluster does not stop
    static func run(_ show: @escaping @Sendable (Check) throws -> Void) async throws {
        let (settings, check) = await SettingsCheck.look()
        try show(check)
        guard let settings else { return try notLookedAt("the settings cannot be used", from: "database").forEach(show) }
        // What is wrong is said in the lines.
        let logger = Logger.humon(.critical)
        let isReached = Mutex(false)
        do {
            try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
                try await withPostgres(database.asWhoeverMayLook(logger: logger), logger: logger) { client in
                    try await client.query("SELECT 1")
                    isReached.withLock { $0 = true }
                    try await look(at: client, settings, show)
                }
            }
        } catch {
            guard !isReached.withLock(\.self) else { throw error }
            let hint =
                settings.databaseURL == nil
                ? "Start humon serve, or name another directory in HUMON_DATA."
                : "See that PostgreSQL runs, and that DATABASE_URL and the network lead there."
            try show(Check("database", .bad, "\(error)", hint: hint))
            try notLookedAt("there is no database", from: "durability").forEach(show)
        }
    }

    private static func look(
        at client: PostgresClient, _ settings: Settings, _ show: (Check) throws -> Void
    ) async throws {
        let (server, log, models) = (ServerChecks(client: client), LogChecks(client: client), ReadModelChecks(client: client))
        try show(await Check.looking(at: "database") { try await server.database() })
        try show(await Check.looking(at: "durability") { try await server.durability() })
        try show(await Check.looking(at: "migrations") { await server.migrations() })
        try show(await Check.looking(at: "grants") { try await log.rights() })
        let directory = settings.databaseURL == nil ? settings.data : nil
        try show(await Check.looking(at: "disk") { try await server.disk(directory: directory) })
        try show(await Check.looking(at: "log") { try await log.newest() })
        try show(await Check.looking(at: "formats") { try await log.formats() })
        try show(await Check.looking(at: "sequences") { try await log.sequences() })
        try await models.readModels().forEach(show)
        try show(await IndexCheck(settings: settings).look())
        try show(await Check.looking(at: "subscriptions") { try await models.subscriptions() })
        try show(await Check.looking(at: "clock") { try await server.clock() })
    }

    /// The check of that name and all behind it: one screen all the same.
    private static func notLookedAt(_ reason: String, from first: String) -> [Check] {
        names.drop { $0 != first }.map { Check($0, .warn, "not looked at: \(reason)") }
    }
}

extension Database {
    /// The role of those who only look or, where there is none or it is not the user's, the rights of the user alone: a database
    /// that was never migrated is to be looked at as well. Never in a transaction that may write.
    fileprivate func asWhoeverMayLook(logger: Logger) async throws -> PostgresConfiguration {
        var configuration = asReader(connections: 2)
        // The planner's own choice: these are no statements of the API.
        configuration.sessionSettings["enable_seqscan"] = nil
        configuration.acquireTimeoutSeconds = Double(configuration.connectTimeoutSeconds)
        var plain = configuration
        plain.role = nil
        plain.connections = 1
        let isMember = try await withPostgres(plain, logger: logger) { client in
            try await client.query(
                "SELECT pg_has_role(current_user, oid, 'MEMBER') FROM pg_roles WHERE rolname = \(Database.readerRole)"
            ).decode(Bool.self)
        }
        if isMember != [true] { configuration.role = nil }
        return configuration
    }
}

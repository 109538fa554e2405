internal import Foundation
internal import Logging
internal import Postgres

/// Everything that the doctor looks at, in the order of its screen. Changes nothing.
enum Checkup {
    /// So many of the newest positions are looked at; `humon log verify` looks at all.
    static let newestPositions: Int64 = 100_000

    static func checks() async -> [Check] {
        let (settings, check) = await SettingsCheck.look()
        guard let settings else { return [check] + notLookedAt("the settings cannot be used") }
        return await [check] + checks(with: settings)
    }

    private static func checks(with settings: Settings) async -> [Check] {
        // What is wrong is said in the lines.
        let logger = Logger.humon(.critical)
        do {
            return try await Database.with(settings, .asVisitorOfExisting, logger: logger) { database in
                try await withPostgres(database.asWhoeverMayLook(logger: logger), logger: logger) { client in
                    try await client.query("SELECT 1")
                    return await checks(of: client, settings)
                }
            }
        } catch {
            let remedy =
                settings.databaseURL == nil
                ? "Start humon serve, or name another directory in HUMON_DATA."
                : "See that PostgreSQL runs, and that DATABASE_URL and the network lead there."
            return [Check("database", .bad, "\(error)", remedy: remedy)] + notLookedAt("there is no database", butDatabase: true)
        }
    }

    private static func checks(of client: PostgresClient, _ settings: Settings) async -> [Check] {
        let (server, log, models) = (ServerChecks(client: client), LogChecks(client: client), ReadModelChecks(client: client))
        return await [
            Check.looking(at: "database") { try await server.database() },
            Check.looking(at: "durability") { try await server.durability() },
            Check.looking(at: "migrations") { await server.migrations() },
            Check.looking(at: "grants") { try await log.rights() },
            Check.looking(at: "disk") { try await server.disk(directory: settings.databaseURL == nil ? settings.data : nil) },
            Check.looking(at: "log") { try await log.newest() },
            Check.looking(at: "sequences") { try await log.sequences() },
        ] + models.readModels() + [
            MemoryCheck(settings: settings).look(),
            Check.looking(at: "followers") { try await models.followers() },
            Check.looking(at: "clock") { try await server.clock() },
        ]
    }

    /// One screen all the same.
    private static func notLookedAt(_ reason: String, butDatabase: Bool = false) -> [Check] {
        let names =
            (butDatabase ? [] : ["database"]) + ["durability", "migrations", "grants", "disk", "log", "sequences"]
            + ReadModelChecks.names + [MemoryCheck.name, "followers", "clock"]
        return names.map { Check($0, .warn, "not looked at: \(reason)") }
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

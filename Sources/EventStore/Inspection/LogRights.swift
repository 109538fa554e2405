public import Postgres

/// A check that the database itself keeps the log append-only, by the rights of roles and by triggers.
public struct LogRights: Sendable {
    /// A right or trigger that differs from `db/grants.sql` and the migrations, and the command that restores it.
    public struct Violation: Sendable, Hashable {
        public var reason: String
        public var hint: String
    }

    private static let application = "humon_app"
    private static let reader = "humon_reader"
    private static let appendOnly = ["log.recorded_events", "log.commands"]
    private static let formats = ["log.program_formats"]
    private static let changing = [
        "log.read_models", "log.inline_read_models", "log.shadows", "log.leases", "log.follower_leaders",
        "log.follower_positions", "log.parked_streams",
    ]
    private static let migrating = "Run humon migrate."

    /// Finds the rights and triggers that differ. Every role that can connect may call this function.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public static func violations(_ client: PostgresClient) async throws -> [Violation] {
        let roles = try await client.query("SELECT rolname FROM pg_roles WHERE rolname IN (\(application), \(reader))")
            .decode(String.self)
        let missing = [application, reader].filter { !roles.contains($0) }
        guard missing.isEmpty else {
            return missing.map { Violation(reason: "the role \($0) is missing", hint: migrating) }
        }
        var violations: [Violation] = []
        for (role, tables, rights, wrongs) in [
            (application, appendOnly, ["SELECT", "INSERT"], ["UPDATE", "DELETE", "TRUNCATE"]),
            (application, formats, ["SELECT", "INSERT"], []),
            (application, changing, ["SELECT", "INSERT", "UPDATE", "DELETE"], []),
            (reader, appendOnly + changing, ["SELECT"], ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]),
        ] {
            violations += try await self.violations(of: role, on: tables, rights: rights, wrongs: wrongs, client)
        }
        return try await violations + databaseViolations(client) + triggerViolations(client)
    }

    private static func violations(
        of role: String, on tables: [String], rights: [String], wrongs: [String], _ client: PostgresClient
    ) async throws -> [Violation] {
        let found = try await client.query(
            """
            SELECT t.name, r.name, has_table_privilege(\(role), to_regclass(t.name)::oid, r.name)
            FROM unnest(\(tables)) AS t (name), unnest(\(rights + wrongs)) AS r (name)
            """
        ).decode((String, String, Bool?).self)
        return found.compactMap { table, right, isGranted in
            switch (isGranted, wrongs.contains(right)) {
            case (nil, _): right == "SELECT" ? Violation(reason: "\(table) is missing", hint: migrating) : nil
            case (false?, false): Violation(reason: "\(role) may not \(right) \(table)", hint: migrating)
            case (true?, true):
                Violation(reason: "\(role) may \(right) \(table)", hint: "REVOKE \(right) ON \(table) FROM \(role), PUBLIC;")
            case (false?, true), (true?, false): nil
            }
        }
    }

    private static func databaseViolations(_ client: PostgresClient) async throws -> [Violation] {
        let mayCreate = try await client.query("SELECT has_database_privilege(\(application), current_database(), 'CREATE')")
            .decode(Bool.self)
        return mayCreate == [true] ? [] : [Violation(reason: "\(application) may not create schemas", hint: migrating)]
    }

    private static func triggerViolations(_ client: PostgresClient) async throws -> [Violation] {
        try await client.query(
            """
            SELECT t.name FROM unnest(\(appendOnly)) AS t (name)
            WHERE to_regclass(t.name) IS NOT NULL AND NOT EXISTS (
                SELECT FROM pg_trigger WHERE tgrelid = to_regclass(t.name) AND tgname = 'refuse_change' AND tgenabled = 'A'
            )
            """
        ).decode(String.self).map { table in
            Violation(
                reason: "the trigger that keeps \(table) append-only is not on",
                hint: "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER refuse_change;")
        }
    }
}

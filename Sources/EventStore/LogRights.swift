public import Postgres

/// Whether the database itself keeps the log append-only: the roles' rights, and the triggers.
public struct LogRights: Sendable {
    /// What is not as `db/grants.sql` and the migrations leave it, and what mends it.
    public struct Fault: Sendable, Hashable {
        public var finding: String
        public var remedy: String
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

    /// Anybody who can connect may ask.
    public static func faults(_ client: PostgresClient) async throws -> [Fault] {
        let roles = try await client.query("SELECT rolname FROM pg_roles WHERE rolname IN (\(application), \(reader))")
            .decode(String.self)
        let missing = [application, reader].filter { !roles.contains($0) }
        guard missing.isEmpty else {
            return missing.map { Fault(finding: "the role \($0) is missing", remedy: migrating) }
        }
        var faults: [Fault] = []
        for (role, tables, rights, wrongs) in [
            (application, appendOnly, ["SELECT", "INSERT"], ["UPDATE", "DELETE", "TRUNCATE"]),
            (application, formats, ["SELECT", "INSERT"], []),
            (application, changing, ["SELECT", "INSERT", "UPDATE", "DELETE"], []),
            (reader, appendOnly + changing, ["SELECT"], ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]),
        ] {
            faults += try await self.faults(of: role, on: tables, rights: rights, wrongs: wrongs, client)
        }
        return try await faults + databaseFaults(client) + triggerFaults(client)
    }

    private static func faults(
        of role: String, on tables: [String], rights: [String], wrongs: [String], _ client: PostgresClient
    ) async throws -> [Fault] {
        let found = try await client.query(
            """
            SELECT t.name, r.name, has_table_privilege(\(role), to_regclass(t.name)::oid, r.name)
            FROM unnest(\(tables)) AS t (name), unnest(\(rights + wrongs)) AS r (name)
            """
        ).decode((String, String, Bool?).self)
        return found.compactMap { table, right, isGranted in
            switch (isGranted, wrongs.contains(right)) {
            case (nil, _): right == "SELECT" ? Fault(finding: "\(table) is missing", remedy: migrating) : nil
            case (false?, false): Fault(finding: "\(role) may not \(right) \(table)", remedy: migrating)
            case (true?, true):
                Fault(finding: "\(role) may \(right) \(table)", remedy: "REVOKE \(right) ON \(table) FROM \(role), PUBLIC;")
            case (false?, true), (true?, false): nil
            }
        }
    }

    private static func databaseFaults(_ client: PostgresClient) async throws -> [Fault] {
        let mayCreate = try await client.query("SELECT has_database_privilege(\(application), current_database(), 'CREATE')")
            .decode(Bool.self)
        return mayCreate == [true] ? [] : [Fault(finding: "\(application) may not create schemas", remedy: migrating)]
    }

    private static func triggerFaults(_ client: PostgresClient) async throws -> [Fault] {
        try await client.query(
            """
            SELECT t.name FROM unnest(\(appendOnly)) AS t (name)
            WHERE to_regclass(t.name) IS NOT NULL AND NOT EXISTS (
                SELECT FROM pg_trigger WHERE tgrelid = to_regclass(t.name) AND tgname = 'refuse_change' AND tgenabled = 'A'
            )
            """
        ).decode(String.self).map { table in
            Fault(
                finding: "the trigger that keeps \(table) append-only is not on",
                remedy: "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER refuse_change;")
        }
    }
}

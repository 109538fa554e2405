public import Postgres

/// A check that the database itself keeps the log append-only, by the rights of roles and by triggers, and that the application and its
/// readers have their rights. A dump that was restored into a cluster without the roles has none of them.
public struct LogRights: Sendable {
    /// A right, owner or trigger that differs from `db/grants.sql` and the migrations, and the command that restores it.
    public struct Violation: Sendable, Hashable {
        public var reason: String
        public var hint: String
    }

    /// The role that gives the application its rights; `db/grants.sql` creates it.
    public static let applicationRole = "humon_app"
    /// The role that may read all tables and change none.
    public static let readerRole = "humon_reader"

    private static let appended = ["log.recorded_events", "log.commands"]
    private static let secret = ["log.pepper"]
    private static let formats = ["log.program_formats"]
    private static let changing = [
        "log.read_models", "log.inline_read_models", "log.shadows", "log.leases", "log.subscriptions", "log.parked_streams",
    ]
    /// The triggers that must be on for all roles, by table.
    private static let triggers = [
        ("log.recorded_events", "refuse_change"), ("log.recorded_events", "guard_personal"), ("log.commands", "refuse_change"),
        ("log.commands", "guard_command"), ("log.pepper", "refuse_change"),
    ]
    /// The functions that the reader may execute. All others append, lock or write.
    private static let reading = [
        "tail", "recorded", "versions", "outcomes", "read_model_positions", "leased_until", "is_leased", "is_held",
        "is_served",
    ]
    private static let migrating = "Run humon migrate."

    /// Finds the rights, owners and triggers that differ. Every role that can connect may call this function.
    /// - Parameter readModels: the schemas of this program's read models
    /// - Throws: ``PostgresError``, or `CancellationError`
    public static func violations(_ client: PostgresClient, readModels: [String]) async throws -> [Violation] {
        let roles = try await client.query("SELECT rolname FROM pg_roles WHERE rolname IN (\(applicationRole), \(readerRole))")
            .decode(String.self)
        let missing = [applicationRole, readerRole].filter { !roles.contains($0) }
        guard missing.isEmpty else {
            return missing.map { Violation(reason: "the role \($0) is missing", hint: migrating) }
        }
        var violations: [Violation] = []
        for (role, tables, rights, wrongs) in [
            (applicationRole, appended + secret, ["SELECT"], ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]),
            (applicationRole, formats, ["SELECT", "INSERT"], []),
            (applicationRole, changing, ["SELECT", "INSERT", "UPDATE", "DELETE"], []),
            (readerRole, appended + changing, ["SELECT"], ["INSERT", "UPDATE", "DELETE", "TRUNCATE"]),
            (readerRole, secret, [], ["SELECT", "INSERT", "UPDATE", "DELETE", "TRUNCATE"]),
        ] {
            violations += try await self.violations(of: role, on: tables, rights: rights, wrongs: wrongs, client)
        }
        violations += try await functionViolations(client)
        violations += try await readModelViolations(readModels, client)
        return try await violations + databaseViolations(client) + triggerViolations(client)
    }

    private static func violations(
        of role: String, on tables: [String], rights: [String], wrongs: [String], _ client: PostgresClient
    ) async throws -> [Violation] {
        // Not to_regclass, which needs a right on the schema.
        let found = try await client.query(
            """
            SELECT t.name, r.name, (
                SELECT has_schema_privilege(\(role), n.oid, 'USAGE') AND has_table_privilege(\(role), c.oid, r.name)
                FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                WHERE n.nspname = split_part(t.name, '.', 1) AND c.relname = split_part(t.name, '.', 2)
            )
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

    private static func functionViolations(_ client: PostgresClient) async throws -> [Violation] {
        let found = try await client.query(
            """
            SELECT p.proname::text, has_function_privilege(\(applicationRole), p.oid, 'EXECUTE'),
                has_function_privilege(\(readerRole), p.oid, 'EXECUTE')
            FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace WHERE n.nspname = 'log' ORDER BY p.proname
            """
        ).decode((String, Bool, Bool).self)
        return found.flatMap { name, isApplications, isReaders in
            let mayRead = reading.contains(name)
            return [
                isApplications ? nil : "\(applicationRole) may not execute log.\(name)",
                isReaders == mayRead ? nil : "\(readerRole) may \(mayRead ? "not " : "")execute log.\(name)",
            ].compactMap { $0.map { Violation(reason: $0, hint: migrating) } }
        }
    }

    private static func readModelViolations(_ schemas: [String], _ client: PostgresClient) async throws -> [Violation] {
        let found = try await client.query(
            """
            SELECT n.nspname::text,
                pg_has_role(\(applicationRole), n.nspowner, 'USAGE')
                    AND coalesce(bool_and(pg_has_role(\(applicationRole), c.relowner, 'USAGE')), true),
                has_schema_privilege(\(readerRole), n.oid, 'USAGE')
                    AND coalesce(bool_and(has_table_privilege(\(readerRole), c.oid, 'SELECT')), true)
            FROM pg_namespace AS n LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relkind = 'r'
            WHERE n.nspname = ANY (\(schemas)) GROUP BY n.oid ORDER BY n.nspname
            """
        ).decode((String, Bool, Bool).self)
        return found.flatMap { schema, isOwner, mayRead in
            [
                isOwner ? nil : "\(applicationRole) does not own the read model \(schema)",
                mayRead ? nil : "\(readerRole) may not read the read model \(schema)",
            ].compactMap { $0.map { Violation(reason: $0, hint: migrating) } }
        }
    }

    private static func databaseViolations(_ client: PostgresClient) async throws -> [Violation] {
        let mayCreate = try await client.query("SELECT has_database_privilege(\(applicationRole), current_database(), 'CREATE')")
            .decode(Bool.self)
        return mayCreate == [true] ? [] : [Violation(reason: "\(applicationRole) may not create schemas", hint: migrating)]
    }

    private static func triggerViolations(_ client: PostgresClient) async throws -> [Violation] {
        try await client.query(
            """
            SELECT w.relation, w.trigger FROM unnest(\(triggers.map(\.0)), \(triggers.map(\.1))) AS w (relation, trigger)
            JOIN pg_namespace AS n ON n.nspname = split_part(w.relation, '.', 1)
            JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = split_part(w.relation, '.', 2)
            WHERE NOT EXISTS (SELECT FROM pg_trigger AS t WHERE t.tgrelid = c.oid AND t.tgname = w.trigger AND t.tgenabled = 'A')
            """
        ).decode((String, String).self).map { table, trigger in
            Violation(
                reason: "the trigger \(trigger) of \(table) is not on",
                hint: "ALTER TABLE \(table) ENABLE ALWAYS TRIGGER \(trigger);")
        }
    }
}

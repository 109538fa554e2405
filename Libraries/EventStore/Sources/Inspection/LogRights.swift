public import Postgres

/// A check that the database itself keeps the log append-only, by the rights of roles and by triggers, and that the application and its
/// readers have their rights. A dump that was restored into a cluster without the roles has none of them.
public struct LogRights: Sendable {
    /// A right, owner or trigger that differs from `db/grants.sql` and the migrations.
    public struct Violation: Sendable, Hashable {
        public var reason: String
        /// The statement that restores it; nil where a migration does.
        public var statement: String?
    }

    /// The role that gives the application its rights; `db/grants.sql` creates it.
    public static let applicationRole = "log_app"
    /// The role that may read all tables and change none.
    public static let readerRole = "log_reader"

    /// The tables of the schema `log`. The application may only read the first seven, and may only add to the eighth.
    private static let tables = [
        "append_lock", "recorded_events", "commands", "pepper", "projections", "read_models", "inline_read_models",
        "program_formats", "subscriptions", "parked_streams",
    ]
    /// The functions that the reader may execute. All others append, lock or write.
    private static let reading = ["tail", "idempotency_records", "read_model_positions", "holders"]
    /// The triggers that must be on for all roles, and their tables.
    private static let triggers = [
        ("recorded_events", "refuse_change"), ("recorded_events", "guard_personal"), ("commands", "refuse_change"),
        ("commands", "guard_command"), ("pepper", "refuse_change"),
    ]

    /// Finds the rights, owners and triggers that differ. Every role that can connect may call this function.
    /// - Parameter readModels: the schemas of this program's read models
    /// - Throws: ``PostgresError``, or `CancellationError`
    public static func violations(_ client: PostgresClient, readModels: [String]) async throws -> [Violation] {
        try await client.query(
            """
            WITH roles AS (
                SELECT oid, rolname::text AS name, rolname = \(readerRole) AS is_reader
                FROM pg_roles WHERE rolname IN (\(applicationRole), \(readerRole))
            ), tables AS (
                -- Not to_regclass, which needs a right on the schema.
                SELECT w.name, w.number, c.oid, c.relnamespace FROM unnest(\(tables)) WITH ORDINALITY AS w (name, number)
                LEFT JOIN pg_namespace AS n ON n.nspname = 'log'
                LEFT JOIN pg_class AS c ON c.relnamespace = n.oid AND c.relname = w.name
            ), rights AS (
                SELECT r.name AS role, t.name AS relation, p.privilege,
                    has_schema_privilege(r.oid, t.relnamespace, 'USAGE') AND has_table_privilege(r.oid, t.oid, p.privilege)
                        AS is_granted,
                    CASE p.privilege WHEN 'SELECT' THEN NOT (r.is_reader AND t.name = 'pepper')
                        WHEN 'INSERT' THEN NOT r.is_reader AND t.number > 7
                        WHEN 'TRUNCATE' THEN false ELSE NOT r.is_reader AND t.number > 8 END AS is_due
                FROM roles AS r CROSS JOIN tables AS t
                CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) AS p (privilege)
            )
            SELECT 'the role ' || w.name || ' is missing', NULL FROM unnest(\([applicationRole, readerRole])) AS w (name)
            WHERE NOT EXISTS (SELECT FROM roles AS r WHERE r.name = w.name)
            UNION ALL
            SELECT 'log.' || name || ' is missing', NULL FROM tables WHERE oid IS NULL
            UNION ALL
            SELECT format('%s may%s %s log.%s', role, CASE WHEN is_due THEN ' not' END, privilege, relation),
                CASE WHEN NOT is_due THEN format('REVOKE %s ON log.%s FROM %s, PUBLIC;', privilege, relation, role) END
            FROM rights WHERE is_granted <> is_due
            UNION ALL
            SELECT format('%s may%s execute log.%s', r.name, CASE WHEN d.is_due THEN ' not' END, p.proname), NULL
            FROM roles AS r CROSS JOIN pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace AND n.nspname = 'log'
            CROSS JOIN LATERAL (SELECT NOT r.is_reader OR p.proname = ANY (\(reading)) AS is_due) AS d
            WHERE has_function_privilege(r.oid, p.oid, 'EXECUTE') <> d.is_due
            UNION ALL
            SELECT 'the read model ' || n.nspname || ' has another owner than the log',
                format('ALTER SCHEMA %I OWNER TO %I;', n.nspname, l.nspowner::regrole)
            FROM pg_namespace AS n JOIN pg_namespace AS l ON l.nspname = 'log'
            WHERE n.nspname = ANY (\(readModels)) AND (n.nspowner <> l.nspowner OR EXISTS (
                SELECT FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND c.relowner <> l.nspowner))
            UNION ALL
            SELECT format('%s may not %s the read model %s', r.name, CASE WHEN r.is_reader THEN 'read' ELSE 'change' END, n.nspname), NULL
            FROM roles AS r CROSS JOIN pg_namespace AS n
            WHERE n.nspname = ANY (\(readModels)) AND (NOT has_schema_privilege(r.oid, n.oid, 'USAGE') OR EXISTS (
                SELECT FROM pg_class AS c CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE}'::text[]) AS p (privilege)
                WHERE c.relnamespace = n.oid AND c.relkind = 'r' AND (p.privilege = 'SELECT' OR NOT r.is_reader)
                    AND NOT has_table_privilege(r.oid, c.oid, p.privilege)))
            UNION ALL
            SELECT name || ' may create schemas', format('REVOKE CREATE ON DATABASE %I FROM %s, PUBLIC;', current_database(), name)
            FROM roles WHERE has_database_privilege(oid, current_database(), 'CREATE')
            UNION ALL
            SELECT format('%s may create objects in the schema %s', r.name, n.nspname),
                format('REVOKE CREATE ON SCHEMA %I FROM %s, PUBLIC;', n.nspname, r.name)
            FROM roles AS r CROSS JOIN pg_namespace AS n
            WHERE (n.nspname IN ('humon', 'log') OR n.nspname = ANY (\(readModels))) AND has_schema_privilege(r.oid, n.oid, 'CREATE')
            UNION ALL
            SELECT format('the trigger %s of log.%s is not on', w.trigger, t.name),
                format('ALTER TABLE log.%s ENABLE ALWAYS TRIGGER %s;', t.name, w.trigger)
            FROM unnest(\(triggers.map(\.0)), \(triggers.map(\.1))) AS w (relation, trigger)
            JOIN tables AS t ON t.name = w.relation AND t.oid IS NOT NULL
            WHERE NOT EXISTS (SELECT FROM pg_trigger AS g WHERE g.tgrelid = t.oid AND g.tgname = w.trigger AND g.tgenabled = 'A')
            ORDER BY 1
            """
        ).decode((String, String?).self).map { Violation(reason: $0, statement: $1) }
    }

    /// Whether every role of the database may take advisory locks, by which servers, rebuilds and drops of copies know each other. Only a
    /// superuser can change that.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public static func advisoryLocksAreOpen(_ client: PostgresClient) async throws -> Bool {
        try await client.query(
            """
            SELECT EXISTS (
                SELECT FROM pg_proc WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_(xact_)?lock'
                    AND has_function_privilege('public', oid, 'EXECUTE'))
            """
        ).decode(Bool.self) == [true]
    }
}

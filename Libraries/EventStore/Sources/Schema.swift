public import Postgres

extension Migration {
    /// The tables of the log and whatever else must last: `db/migrations`, which travel inside the program.
    public static let all = [
        Migration(name: "0001_log", bytes: PackageResources._001_log_sql),
        Migration(name: "0002_ids", bytes: PackageResources._002_ids_sql),
        Migration(name: "0003_commands", bytes: PackageResources._003_commands_sql),
        Migration(name: "0004_followers", bytes: PackageResources._004_followers_sql),
        Migration(name: "0005_append", bytes: PackageResources._005_append_sql),
        Migration(name: "0006_read_models", bytes: PackageResources._006_read_models_sql),
        Migration(name: "0007_search", bytes: PackageResources._007_search_sql),
        Migration(name: "0008_inline_read_models", bytes: PackageResources._008_inline_read_models_sql),
        Migration(name: "0009_formats", bytes: PackageResources._009_formats_sql),
        Migration(
            name: "0010_previous_read_models", bytes: PackageResources._010_previous_read_models_sql,
            // It fails for a row without its schema, which a person may have dropped.
            preparation: """
                DELETE FROM log.read_models AS m
                WHERE m.schema LIKE '%\\_before' AND NOT EXISTS (SELECT FROM pg_namespace AS n WHERE n.nspname = m.schema)
                """),
        Migration(name: "0011_account_ids", bytes: PackageResources._011_account_ids_sql),
        Migration(name: "0012_append_conditions", bytes: PackageResources._012_append_conditions_sql),
        Migration(name: "0013_log_vacuum", bytes: PackageResources._013_log_vacuum_sql),
        Migration(
            name: "0014_append_without_tuplestores", bytes: PackageResources._014_append_without_tuplestores_sql),
        Migration(
            name: "0015_guarded_log", bytes: PackageResources._015_guarded_log_sql, oldestProgram: "0008_inline_read_models"),
        Migration(name: "0016_freezing", bytes: PackageResources._016_freezing_sql, oldestProgram: "0001_log"),
        Migration(
            name: "0017_tighter_guards", bytes: PackageResources._017_tighter_guards_sql,
            oldestProgram: "0008_inline_read_models"),
        Migration(
            name: "0018_personal_members", bytes: PackageResources._018_personal_members_sql,
            oldestProgram: "0018_personal_members"),
    ]

    /// The functions of the log (`db/functions`) and the rights of the roles (`db/grants.sql`). Raise the number when a release changes
    /// them. A program with a lower number, down to the oldest program, must work with them.
    public static let functions = Migration(
        name: "functions_0002",
        bytes: [
            PackageResources.append_sql, PackageResources.erasure_sql, PackageResources.lookups_sql, PackageResources.guards_sql,
            PackageResources.read_models_sql, PackageResources.leases_sql, PackageResources.subscriptions_sql,
            PackageResources.grants_sql,
        ].flatMap(\.self),
        oldestProgram: "0018_personal_members")

    private init(name: String, bytes: [UInt8], preparation: String? = nil, oldestProgram: String? = nil) {
        self.init(
            name: name, sql: String(decoding: bytes, as: UTF8.self), preparation: preparation, oldestProgram: oldestProgram)
    }
}

extension Migrator {
    /// Brings a database to what this program needs.
    public init(client: PostgresClient) {
        self.init(migrations: Migration.all, functions: Migration.functions, client: client)
    }
}

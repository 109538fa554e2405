public import Postgres

extension Migration {
    /// The tables of the log and whatever else must last: `db/migrations`, which travel inside the program. Until release 1.0.0,
    /// `0001_log` is edited in place.
    public static let all = [Migration(name: "0001_log", bytes: PackageResources._001_log_sql)]

    /// The functions of the log (`db/functions`) and the rights of the roles (`db/grants.sql`). Raise the number when a release changes
    /// them. A program with a lower number, down to the oldest program, must work with them.
    public static let functions = Migration(
        name: "functions_0001",
        bytes: [
            PackageResources.append_sql, PackageResources.erasure_sql, PackageResources.lookups_sql, PackageResources.tree_sql,
            PackageResources.guards_sql, PackageResources.read_models_sql, PackageResources.leases_sql,
            PackageResources.subscriptions_sql, PackageResources.grants_sql,
        ].flatMap(\.self),
        oldestProgram: "0001_log")

    private init(name: String, bytes: [UInt8], oldestProgram: String? = nil) {
        self.init(name: name, sql: String(decoding: bytes, as: UTF8.self), oldestProgram: oldestProgram)
    }
}

extension Migrator {
    /// Brings a database to what this program needs.
    public init(client: PostgresClient) {
        self.init(migrations: Migration.all, functions: Migration.functions, client: client)
    }
}

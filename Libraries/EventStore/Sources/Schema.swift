internal import CLogSchema
public import Postgres

extension Migration {
    /// The tables of the log and whatever else must last: `db/migrations`, which travel inside the program. Until release 1.0.0,
    /// `0001_log` is edited in place.
    public static let all = [Migration(name: "0001_log", files: [sql_0001_log])]

    /// The functions of the log (`db/functions`) and the rights of the roles (`db/grants.sql`). Raise the number when a release changes
    /// them. A program with a lower number, down to the oldest program, must work with them.
    public static let functions = Migration(
        name: "functions_0001",
        files: [
            sql_append, sql_erasure, sql_lookups, sql_tree, sql_guards, sql_read_models, sql_leases, sql_subscriptions,
            sql_grants,
        ],
        oldestProgram: "0001_log")

    /// - Parameter files: the byte of a file at an index, and 0 behind its last byte
    private init(name: String, files: [(Int) -> UInt8], oldestProgram: String? = nil) {
        var bytes: [UInt8] = []
        for byte in files { bytes += (0...).lazy.map { byte($0) }.prefix { $0 != 0 } }
        self.init(name: name, sql: String(decoding: bytes, as: UTF8.self), oldestProgram: oldestProgram)
    }
}

extension Migrator {
    /// Brings a database to what this program needs.
    public init(client: PostgresClient) {
        self.init(migrations: Migration.all, functions: Migration.functions, client: client)
    }
}

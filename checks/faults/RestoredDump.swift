import EventStore
import Foundation
import Postgres
import TestDatabase
import TestServer

/// A new cluster with the restored dump of another.
struct RestoredDump: Sendable {
    var cluster: TestPostgres
    var violations: [Violation]

    /// - Parameter working: the directory for the files and for `humon migrate`
    static func make(of cluster: TestPostgres, in directory: String, working: URL) async throws -> RestoredDump {
        let (dump, roles) = (working.appending(path: "humon.dump").path, working.appending(path: "roles.sql").path)
        let from = cluster.login
        let before = try await cluster.withClient { try await LogRow.digest($0) }
        try await TestPostgres.run(
            "pg_dump", from + ["--format", "custom", "--file", dump, TestPostgres.humon])
        try await TestPostgres.run("pg_dumpall", from + ["--roles-only", "--file", roles])

        let restored = try await TestPostgres.primary(in: directory)
        let to = restored.login
        // psql continues after the error that the superuser's role exists.
        try await TestPostgres.run("psql", to + ["--dbname", "postgres", "--quiet", "--file", roles])
        try await TestPostgres.run("pg_restore", to + ["--dbname", TestPostgres.humon, "--exit-on-error", dump])
        // A dump does not contain the privileges on the database.
        let migrate = try await HumonProcess.run(
            ["migrate"], in: working, environment: ["DATABASE_URL": restored.url(database: TestPostgres.humon)])
        var violations: [Violation] = []
        if migrate.status != 0 {
            violations.append(
                Violation(check: .restore, sentence: "humon migrate ended with \(migrate.status): \(migrate.error)"))
        }
        try await restored.withClient { client in
            try await client.query("CREATE DATABASE \(identifier: FaultInjector.otherDatabase)")
        }
        let after = try await restored.withClient { try await LogRow.digest($0) }
        if before != after {
            violations.append(Violation(check: .restore, sentence: "the restored log differs from the dumped one"))
        }
        return RestoredDump(cluster: restored, violations: violations)
    }
}

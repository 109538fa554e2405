import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

/// A new cluster has none of the roles that `db/grants.sql` creates.
@Suite(.emptyDatabase, .directory) struct `A dump that was restored into a new cluster` {
    @Test func `humon migrate mends owners and rights, and the doctor reports that they are missing before`() async throws {
        try await HumonProcess.run(["demo", "--events", "20"], on: database).succeeded()
        let dump = directory.appending(path: "humon.dump").path
        try await TestPostgres.run("pg_dump", ["--format", "custom", "--file", dump, "--dbname", database.url])

        let postgres = try await TestPostgres(in: directory.appending(path: "new").path)
        let restored = await Result.of {
            // The statements that name the missing roles fail, and pg_restore goes on.
            let error = await #expect(throws: TestProgram.Failed.self) {
                try await TestPostgres.run("pg_restore", ["--dbname", postgres.url(), dump])
            }
            #expect(error?.description.contains(#"role "log_app" does not exist"#) == true)
            try await Self.mend(postgres.url(), in: directory)
        }
        try await postgres.stop()
        try restored.get()
    }

    private static func mend(_ url: String, in directory: URL) async throws {
        let environment = ["DATABASE_URL": url, "TB_APP_SECRET": HumonProcess.secret]
        func grants() async throws -> JSON {
            let report = try await HumonProcess.run(["doctor", "--json"], in: directory, environment: environment)
            let lines = try report.output.split(separator: "\n").map { try JSON(utf8: Array($0.utf8)) }
            return lines.first { $0["check"] == "grants" } ?? .null
        }
        let before = try await grants()
        #expect(before["state"] == "bad" && before["hint"] == "Run humon migrate.", "\(before.text)")
        try await HumonProcess.run(["migrate"], in: directory, environment: environment).succeeded()
        let after = try await grants()
        #expect(after["state"] == "ok", "\(after.text)")

        try await HumonProcess.withServer(in: directory, environment: environment) { _, port in
            let headers = [
                ("tb-app-secret", HumonProcess.secret), ("tb-device-token", "phone"), ("content-type", "application/json"),
            ]
            let base = "http://127.0.0.1:\(port)/v1"
            let party = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            let signedUp = try await exchange("POST", base + "/users", headers: headers)
            let created = try await exchange("POST", base + "/events", headers: headers, body: party)
            #expect((signedUp.status, created.status) == (200, 200), "\(signedUp.body) \(created.body)")
        }
        for arguments in [["projections", "verify", "--all"], ["projections", "rebuild", "--all"], ["log", "verify"]] {
            try await HumonProcess.run(arguments, in: directory, environment: environment).succeeded()
        }
    }
}

extension Result where Failure == any Error {
    fileprivate static func of(_ body: () async throws -> Success) async -> Self {
        do { return .success(try await body()) } catch { return .failure(error) }
    }
}

import Foundation
import TestDatabase
import TestServer
import Testing

@Suite(.directory) struct `humon cluster upgrade` {
    @Test func `keeps the log and the read models, and says where the old PostgreSQL is`() async throws {
        let (directory, postgres) = (directory, try await TwoPostgres(copiedInto: directory.path))
        let (older, newer) = (
            ["HUMON_POSTGRES_BIN": postgres.old], ["HUMON_POSTGRES_BIN": postgres.new, "PATH": "\(postgres.old):/usr/bin:/bin"]
        )
        func humon(_ arguments: String..., with settings: [String: String] = [:]) async throws -> HumonProcess.Result {
            let secret = ["TB_APP_SECRET": HumonProcess.secret]
            return try await HumonProcess.run(arguments, in: directory, environment: secret.merging(settings) { $1 })
        }
        try await humon("demo", "--events", "100", "--yes", with: older).succeeded()
        let before = try await humon("log", "stats", "--json", with: older).succeeded().output
        let without = try await humon("cluster", "upgrade", with: older)
        #expect(without.status == 1 && without.error.contains("no newer one was found"), "\(without.error)")
        #expect(without.error.contains("directory in HUMON_POSTGRES_BIN."), "\(without.error)")
        let other = try await humon("cluster", "upgrade", with: ["DATABASE_URL": "postgres://humon@127.0.0.1:1/humon"])
        #expect(other.status == 1 && other.error.contains("docs/upgrading.md has the way"), "\(other.error)")

        let upgraded = try await humon("cluster", "upgrade", "--json", with: newer).succeeded()
        #expect(upgraded.output.contains(/"version":18,.*"old_version":\d+,.*"position":[1-9]/), "\(upgraded.output)")
        #expect(upgraded.error.contains("\(directory.path)/data/cluster."), "\(upgraded.error)")
        #expect(try await humon("log", "stats", "--json", with: newer).succeeded().output == before)
        try await humon("log", "verify", with: newer).succeeded()
        try await humon("projections", "verify", "--all", with: newer).succeeded()
        let lost = try await humon("log", "stats", with: older)
        #expect(lost.status == 1 && lost.error.contains("made by PostgreSQL 18"), "\(lost.error)")
        #expect(lost.error.contains("Then humon cluster upgrade"), "\(lost.error)")
    }
}

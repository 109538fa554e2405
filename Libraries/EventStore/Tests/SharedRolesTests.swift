import EmbeddedPostgres
import EventStore
import Foundation
import Postgres
import TestDatabase
import Testing

/// Since PostgreSQL 16, CREATEROLE grants only the roles that its own role made.
@Suite struct `Two logs in one PostgreSQL` {
    private static let programs = ProcessInfo.processInfo.environment["HUMON_POSTGRES_BIN"]

    @Test(
        .enabled("no PostgreSQL 16 or later is installed, and HUMON_POSTGRES_BIN names none") {
            try await PostgresInstallation.find(in: programs, majorVersion: nil).majorVersion >= 16
        })
    func `each owner with CREATEROLE migrates, and the second one uses the roles after a GRANT`() async throws {
        try await Capacity.processes.use {
            let directory = FileManager.default.temporaryDirectory.appending(path: "humon-\(UUID().uuidString.prefix(8))").path
            defer { try? FileManager.default.removeItem(atPath: directory) }
            var configuration = EmbeddedCluster.Configuration(directory: directory, programs: Self.programs)
            configuration.settings = TestPostgres.unsafeSettings
            let cluster = try await EmbeddedCluster.start(configuration, logger: .quiet)
            let result: Result<Void, any Error>
            do { result = .success(try await Self.use(directory)) } catch { result = .failure(error) }
            try await cluster.stop()
            try result.get()
        }
    }

    private static func use(_ directory: String) async throws {
        func connected<Value: Sendable>(
            _ user: String, _ database: String, role: String? = nil, _ body: @Sendable (PostgresClient) async throws -> Value
        ) async throws -> Value {
            var configuration = PostgresConfiguration(url: "host='\(directory)/cluster' user=\(user) dbname=\(database)")
            (configuration.role, configuration.connections, configuration.acquireTimeoutSeconds) = (role, 1, 30)
            return try await withPostgres(configuration, logger: .quiet, body)
        }
        for owner in ["first", "second"] {
            try await connected("postgres", "postgres") { client in
                try await client.query("CREATE ROLE \(identifier: owner) LOGIN CREATEROLE")
                try await client.query("CREATE DATABASE \(identifier: owner) OWNER \(identifier: owner)")
            }
            // A second time, as in the next deployment.
            for _ in 0..<2 {
                _ = try await connected(owner, owner) { try await LogSchema(projections: [], client: $0).migrate() }
            }
        }
        try await connected("first", "first") { _ = try await $0.query("GRANT log_app, log_reader TO second") }
        for role in ["log_app", "log_reader"] {
            let count = try await connected("second", "second", role: role) { client in
                try await client.query("SELECT count(*) FROM log.recorded_events").decode(Int64.self)
            }
            #expect(count == [0], "\(role)")
        }
    }
}

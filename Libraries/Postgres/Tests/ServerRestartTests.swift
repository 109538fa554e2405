import EmbeddedPostgres
import Foundation
import Postgres
import TestDatabase
import Testing

@Suite struct `Restarting PostgreSQL` {
    @Test func `a client is unavailable during a restart of the server and reconnects by itself`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: "humon-restart-\(UUID().uuidString.prefix(8))")
            .path
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var configuration = EmbeddedCluster.Configuration(directory: directory)
        configuration.settings = ["fsync": "off"]
        let first = try await EmbeddedCluster.start(configuration, logger: .quiet)
        var clientConfiguration = PostgresConfiguration(url: first.url)
        clientConfiguration.acquireTimeoutSeconds = 1
        try await withPostgres(clientConfiguration, logger: .quiet) { [configuration] client in
            try await eventually("an answer") { (try? await client.query("SELECT 1")) != nil }
            try await first.stop()
            let error = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") }
            #expect(error?.isUnavailability == true)
            let second = try await EmbeddedCluster.start(configuration, logger: .quiet)
            try await eventually("an answer") { (try? await client.query("SELECT 1")) != nil }
            try await second.stop()
        }
    }
}

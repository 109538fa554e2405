import TestDatabase
import Testing

@testable import Postgres

@Suite struct `A database that cannot be reached` {
    @Test func `because nobody listens is unavailable, and libpq says why`() async throws {
        let port = try UnusedPort.find()
        var error = try await errorOfQuery(port: port)
        // On a busy machine nobody may have tried to connect by then.
        for _ in 0..<20 where error.description.contains("being opened") { error = try await errorOfQuery(port: port) }
        guard case .unavailable(let reason) = error else { throw error }
        #expect(reason.contains("127.0.0.1"))
        #expect(reason.contains("\(port)"))
        #expect(!reason.contains("\n"))
        #expect(error.isUnavailability)
    }

    @Test func `because the listener never answers keeps no caller waiting beyond the time to acquire`() async throws {
        let listener = try SilentListener()
        let error = try await errorOfQuery(port: listener.port)
        guard case .unavailable = error else { throw error }
        #expect(error.isUnavailability)
    }

    @Test func `because the listener never answers is given up after the time to connect`() async throws {
        let listener = try SilentListener()
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(listener.port)/humon?sslmode=disable")
        configuration.connectTimeoutSeconds = 1
        let error = await #expect(throws: PostgresError.self) { try await ConnectionThread.open(configuration) }
        #expect(error?.description == "no connection to PostgreSQL: no answer within 1 s")
    }

    @Test func `is not waited for by a task that is cancelled`() async throws {
        let listener = try SilentListener()
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(listener.port)/humon?sslmode=disable")
        configuration.connectTimeoutSeconds = 600
        let opening = Task { [configuration] in try await ConnectionThread.open(configuration) }
        try await Task.sleep(for: .milliseconds(100))
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
    }

    @Test func `does not pile up callers that have given up`() async throws {
        let port = try UnusedPort.find()
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(port)/humon")
        configuration.acquireTimeoutSeconds = 0.05
        try await withPostgres(configuration, logger: .quiet) { client async throws in
            for _ in 0..<5 { await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") } }
            try await eventually("callers to be forgotten") { client.waitingCallers == 0 }
        }
    }

    private func errorOfQuery(port: UInt16) async throws -> PostgresError {
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(port)/humon")
        configuration.acquireTimeoutSeconds = 1
        return try await withPostgres(configuration, logger: .quiet) { client in
            try #require(await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") })
        }
    }
}

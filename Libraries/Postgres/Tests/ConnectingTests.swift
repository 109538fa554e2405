import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Failing to connect` {
    @Test func `a port without a listener is unavailable, with libpq's reason`() async throws {
        let port = try UnusedPort.find()
        var error = try await errorOfQuery(port: port)
        // On a busy machine the client may not have tried to connect by then.
        for _ in 0..<20 where error.description.contains("being opened") { error = try await errorOfQuery(port: port) }
        guard case .unavailable(let reason) = error else { throw error }
        #expect(reason.contains("127.0.0.1"))
        #expect(reason.contains("\(port)"))
        #expect(!reason.contains("\n"))
        #expect(error.isUnavailability)
    }

    @Test func `a listener that never answers costs the acquire time-out at most, and an attempt the connect time-out`()
        async throws
    {
        let listener = try SilentListener()
        let error = try await errorOfQuery(port: listener.port)
        guard case .unavailable = error else { throw error }
        #expect(error.isUnavailability)
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(listener.port)/humon?sslmode=disable")
        configuration.connectTimeoutSeconds = 1
        let attempt = await #expect(throws: PostgresError.self) { try await ConnectionThread.open(configuration) }
        #expect(attempt?.description == "no connection to PostgreSQL: no answer within 1 s")
    }

    @Test func `a cancelled task stops waiting for a connection attempt`() async throws {
        let listener = try SilentListener()
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(listener.port)/humon?sslmode=disable")
        configuration.connectTimeoutSeconds = 600
        let opening = Task { [configuration] in try await ConnectionThread.open(configuration) }
        try await Task.sleep(for: .milliseconds(100))
        opening.cancel()
        await #expect(throws: CancellationError.self) { try await opening.value }
    }

    private func errorOfQuery(port: UInt16) async throws -> PostgresError {
        var configuration = PostgresConfiguration(url: "postgres://humon@127.0.0.1:\(port)/humon")
        configuration.acquireTimeoutSeconds = 1
        return try await withPostgres(configuration, logger: .quiet) { client in
            let error = try #require(await #expect(throws: PostgresError.self) { try await client.query("SELECT 1") })
            // A caller that has given up leaves the queue.
            try await eventually("callers to be forgotten") { client.waitingCallers == 0 }
            return error
        }
    }
}

import Postgres
import Telemetry
import TestDatabase
import Testing

@testable import Postgres

@Suite struct `Statistics of a client` {
    @Test(.client(connections: 1))
    func `the statistics count connections by use, and the callers that wait for one`() async throws {
        try await client.query("SELECT 1")
        #expect(client.connections == [.idle: 1])
        let waiting = try await client.withConnection { connection in
            #expect(client.connections == [.leased: 1])
            let waiting = Task { try await client.query("SELECT 2") }
            try await eventually("a caller that waits") { client.waitingCallers == 1 }
            try await connection.query("SELECT 3")
            return waiting
        }
        _ = try await waiting.value
        #expect(client.waitingCallers == 0)
        #expect((client.statistics.opened, client.statistics.lost, client.statistics.failedToOpen) == (1, 0, 0))
    }

    @Test(.client()) func `the statistics record the time of statements, and failures by reason`() async throws {
        try await client.query("SELECT pg_sleep(0.06)")
        let refused = await #expect(throws: PostgresError.self) { try await client.query("SELECT 1 / 0") }
        #expect(refused?.isUnavailability == false)
        let impatient = Task { try await client.query("SELECT pg_sleep(600)") }
        try await eventually("a busy connection") { client.connections[.busy] == 1 }
        impatient.cancel()
        _ = await impatient.result
        let statistics = client.statistics
        #expect(statistics.queries.snapshot.counts.reduce(0, +) == 3)
        #expect(statistics.queries.snapshot.sum > 0.06)
        #expect(statistics.failures == [.refused: 1, .unavailable: 0, .cancelled: 1])
    }

    @Test(.client(configure: { $0.role = "nobody_has_this_role" }))
    func `the statistics count failed attempts to get a connection`() async throws {
        try await eventually("a failure") { client.statistics.failedToOpen > 0 }
        try await eventually("a connection that backs off") { client.connections[.backingOff] ?? 0 > 0 }
    }
}

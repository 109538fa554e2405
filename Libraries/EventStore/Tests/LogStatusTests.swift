import EventStore
import Postgres
import TestDatabase
import Testing

@Suite(.store) struct `Reporting the status of the log` {
    @Test func `the status gives the tail of the log and the lag of read models and subscriptions`() async throws {
        let before = try await LogStatus(of: [SumProjection()], client: store.client)
        #expect((before.position, before.readModelLags, before.subscriptions) == (0, ["sums_v1": 0], []))
        try await store.count(5)
        try await store.database.withClient { client in
            _ = try await client.run([
                "SELECT log.leave_inline(ARRAY['sums_v1'])",
                "UPDATE log.read_models SET position = 3 WHERE schema = 'sums_v1'",
                "INSERT INTO log.subscriptions VALUES ('feed', 0), ('feed', 1)",
            ])
        }
        let after = try await LogStatus(of: [SumProjection()], client: store.client)
        #expect((after.position, after.readModelLags) == (5, ["sums_v1": 2]))
        #expect(after.subscriptions.map(\.name) == ["feed"])
        #expect(after.subscriptions.map(\.lag) == [4])
    }
}

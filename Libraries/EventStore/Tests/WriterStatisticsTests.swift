import Foundation
import Postgres
import Telemetry
import Testing

@testable import EventStore

@Suite(.store) struct `Counting appends` {
    @Test func `the writer counts appends by result`() async throws {
        let id = UUID()
        _ = try await store.log.record(.counting("a", after: 0, id: id))
        _ = try await store.log.record(.counting("a", after: 0, id: id))
        #expect(try await store.log.append(.counting("a", after: 0)).place == nil)
        await #expect(throws: PostgresError.self) { try await store.log.record(.counting("b", after: 0, by: -13)) }
        let outcomes = store.log.statistics.appends
        #expect(outcomes.filter { $0.value > 0 } == [.recorded: 1, .repeated: 1, .conflict: 1, .failed: 1])
    }

    @Test func `the writer records the size and duration of its transactions`() async throws {
        let results = try await gather(50) { try await store.log.record(.counting("\($0)", after: 0)) }
        #expect(results.appended.count == 50)
        let (batches, commits) = (store.log.statistics.batches.snapshot, store.log.statistics.commits.snapshot)
        #expect(batches.sum == 50)
        #expect((1...50).contains(batches.counts.reduce(0, +)))
        #expect(commits.counts.reduce(0, +) == batches.counts.reduce(0, +))
        #expect(commits.sum > 0)
        #expect(store.log.queueLength == 0)
    }

    @Test func `the writer counts appends to a closed log as refused`() async throws {
        try await TestStore.withLog(store.client, projections: []) { log in
            let running = Task { await log.run() }
            running.cancel()
            _ = await running.result
            await #expect(throws: EventLogError.closed) { try await log.record(.counting("a", after: 0)) }
            #expect(log.statistics.appends[.closed] == 1)
        }
    }
}

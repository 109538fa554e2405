import EventStore
import Postgres
import SpatialIndex
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Recovering an index from faults` {
    @Test func `an index that comes into use is not read before it holds the acknowledged writes`() async throws {
        try await TestNode.with(listens: false) { node in
            node.index.state.enter(.interrupted)
            // The call that a command makes after its event was recorded at position 5.
            await node.index.waitUntilVisible(5)
            #expect(node.index.readable == nil)
            node.index.state.enter(.inUse)
            // The index is in use at position 0, but must not be read before it holds position 5.
            #expect(node.index.content.index.snapshot.position == 0)
            #expect(node.index.readable == nil)
            node.index.content.index.apply(EventIndex.Batch(), position: 5)
            #expect(node.index.readable?.position == 5)
        }
    }

    @Test func `readers do not each wait for a write that the index did not show in time`() async throws {
        try await TestNode.with(listens: false) { node in
            // The state after `waitUntilVisible(_:)` waited a second in vain; it stays so if a failover loses the write.
            node.index.state.require(5)
            let start = ContinuousClock.now
            for _ in 0..<60 { _ = try await node.module.view() }
            #expect(.now - start < .seconds(60 * InMemoryReadModel.patienceSeconds))
        }
    }

    @Test func `a position that the read model lacks is refused, and later read from PostgreSQL`()
        async throws
    {
        try await TestNode.withDatabase { database in
            try await database.withClient(role: "log_app", connections: 3) { client in
                // This log belongs to another version of the program, so this program's read model lags.
                let other = EventLog(client: client, projections: [], logger: .quiet)
                let module = EventsModule(
                    log: other, database: client, index: nil, render: TestNode.render, dependencies: .system)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { await other.run() }
                    defer { group.cancelAll() }
                    let (_, position) = try await module.create(
                        .picnic, by: .ann, context: CommandContext(requestID: "test"))
                    await #expect(throws: PositionNotReachedError(position: position)) {
                        try await module.view(atLeast: position)
                    }
                    // After the catch-up the read model shows the position.
                    try await ReadModels(projections: [EventsProjection()], client: client, logger: .quiet).prepare()
                    #expect(try await module.view(atLeast: position).nearest(.everywhere).count == 1)
                }
            }
        }
    }
}

import EventStore
import TestDatabase
import Testing

@testable import Events

@Suite struct `An index that is not in use` {
    private static let context = CommandContext(requestID: "test")

    @Test(.node()) func `views are refused, and commands are carried out without a wait and a quota`() async throws {
        // Nothing loads this one. A busy machine may need seconds for a command.
        let patienceSeconds = 60.0
        let index = InMemoryReadModel(
            EventsInMemory(limitBytes: 1_000_000, eventsPerUser: 1, render: TestNode.render), client: node.client,
            notifier: node.index.notifier, patienceSeconds: patienceSeconds, logger: .quiet)
        let module = EventsModule(
            log: node.log, database: node.client, index: index, render: TestNode.render, dependencies: .system)
        try await node.create()
        let start = ContinuousClock.now
        let (id, position) = try await module.create(.picnic, by: .ann, context: Self.context)
        #expect(.now - start < .seconds(patienceSeconds))
        await #expect(throws: IndexNotInUseError()) { try await module.view() }
        await #expect(throws: IndexNotInUseError()) { try await module.view(atLeast: position) }
        await #expect(throws: IndexNotInUseError()) { try await module.readEvent(id) }
        await #expect(throws: IndexNotInUseError()) { try await module.ownEvents(of: .ann, after: nil, limit: 1) }
        #expect(module.indexStatus.phase == .loading && module.indexStatus.isStarting)
        #expect(try await node.module.readEvent(id, atLeast: position).event.version == 1)
    }

    @Test(.node(listens: false)) func `readers do not wait for a write that the index did not show in time`() async throws {
        #expect(await !node.index.reaches(5))
        let end = try await node.module.view().end
        #expect(end.position == 0)
    }

    @Test(.node()) func `a position that the read model lacks is reached by the index`() async throws {
        // This log belongs to another version of the program, so this program's read model lags.
        let other = EventLog(client: node.client, projections: [], logger: .quiet)
        let module = EventsModule(log: other, database: node.client, render: TestNode.render, dependencies: .system)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await other.run() }
            defer { group.cancelAll() }
            let (id, position) = try await module.create(.picnic, by: .ann, context: Self.context)
            #expect(try await module.event(id) == nil)
            #expect(try await node.module.readEvent(id, atLeast: position).event.version == 1)
            await #expect(throws: IndexNotInUseError()) { try await module.view() }
        }
    }
}

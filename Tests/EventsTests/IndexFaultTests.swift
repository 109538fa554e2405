import Encoding
import EventStore
import Foundation
import Postgres
import SpatialIndex
import TestDatabase
import Testing
import Users

@testable import Events

/// A domain event of a newer program, in a format that this program does not know.
private enum CreatedAnew: DomainEvent {
    case created

    static let category = "event"
    static let storedTypes = [StoredType("EventCreated", upcasters: [{ $0 }])]
    static let personal = PersonalMembers.none
    init(type: String, content: EventContent) throws { self = .created }
    var stored: (type: String, data: JSON) { ("EventCreated", ["title": "Picnic"]) }
}

@Suite struct `Recovering an index from faults` {
    /// PostgreSQL crashed without fsync or its volume was set back: the timeline is the same, and another node has since
    /// appended as many events.
    @Test func `the index reloads after the log lost its end and grew back to the same length`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                for _ in 0..<20 { try await node.create() }
                _ = try await database.withClient { client in
                    try await client.withTransaction { connection in
                        try await connection.query("ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change")
                        try await connection.query(
                            "CREATE TEMP TABLE gone AS SELECT * FROM log.recorded_events WHERE position > 15")
                        try await connection.query("DELETE FROM log.recorded_events WHERE position > 15")
                        try await connection.query(
                            """
                            INSERT INTO log.recorded_events SELECT position, gen_random_uuid(), 'event-' || (1000 + position), 1, type,
                            format, recorded_at, data, metadata, personal, personal_digest FROM gone
                            """)
                        try await connection.query("UPDATE events_v1.events SET id = 1000 + id WHERE id > 15")
                        try await connection.query("ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change")
                    }
                }
                try await eventually { try await node.module.view().event(EventID(rawValue: 1_016))?.isFromIndex == true }
                #expect(try await node.module.verifyIndex().differences == [])
            }
        }
    }

    @Test func `an event of a newer program ends the use of the index, which is not loaded again and again`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                _ = try await node.create()
                try await database.append(
                    AppendRequest(
                        id: UUID(), streams: [StreamAppend([CreatedAnew.created], to: StreamName("event-2"), after: 0)],
                        recordedAt: Timestamp(milliseconds: 0),
                        metadata: Metadata(requestID: "test", actor: 7, traceID: nil)))
                try await eventually { node.module.indexStatus.isBlockedByUnreadableEvent }
                for _ in 0..<20 {
                    #expect(node.module.indexStatus.phase == .interrupted)
                    #expect(node.index.readable == nil)
                    // A load would find the event.
                    #expect(node.module.indexStatus.count == 0)
                    try await Task.sleep(for: .milliseconds(20))
                }
            }
        }
    }

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
            #expect(.now - start < .seconds(60 * InMemoryReadModel<EventsInMemory>.patienceSeconds))
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
                        CreateEvent(details: .picnic, owner: .ann), context: CommandContext(requestID: "test"))
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

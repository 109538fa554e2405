import Encoding
import EventStore
import Foundation
import Postgres
import SpatialIndex
import TestDatabase
import Testing
import Users

@testable import Events

/// What a newer program creates, in a format that this one does not know.
private enum CreatedAnew: DomainEvent {
    case created

    static let category = "event"
    static let storedTypes = [StoredType("EventCreated", upcasters: [{ $0 }])]
    static let personalFields: Set<String> = []
    init(type: String, data: JSON) throws { self = .created }
    var stored: (type: String, data: JSON) { ("EventCreated", ["title": "Picnic"]) }
}

@Suite struct `A node with a index that meets faults` {
    /// A crash of a server that does not wait for the disk, or a volume that was set back: the timeline is the same, and another node
    /// has written as much again.
    @Test func `fills it anew when the log lost its end and others have written as much since`() async throws {
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
                            format, recorded_at, data, metadata FROM gone
                            """)
                        try await connection.query("UPDATE events_v1.events SET id = 1000 + id WHERE id > 15")
                        try await connection.query("ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change")
                    }
                }
                try await eventually { try await node.module.view().event(EventID(rawValue: 1_016))?.isFromIndex == true }
                #expect(try await node.module.examineMemory().differences == [])
            }
        }
    }

    @Test func `keeps it as it is before an event of a newer program that this one cannot read`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                let (id, _) = try await node.create()
                try await database.withClient(role: "humon_app", connections: 1) { client in
                    let newer = EventLog(client: client, projections: [], logger: .quiet)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { try await newer.run() }
                        defer { group.cancelAll() }
                        _ = try await newer.append(
                            AppendRequest(
                                id: UUID(), stream: StreamName("event-2"), expectedVersion: 0,
                                recordedAt: Timestamp(milliseconds: 0),
                                metadata: Metadata(requestID: "test", actor: 7, traceID: nil), event: CreatedAnew.created))
                    }
                }
                try await eventually { node.module.indexStatus.standsBeforeUnreadable }
                // Each of its attempts is short, and none of them fills the index anew.
                for _ in 0..<20 {
                    #expect(node.module.indexStatus.phase == .inUse)
                    #expect(try await node.module.view().event(id)?.isFromIndex == true)
                    try await Task.sleep(for: .milliseconds(20))
                }
                #expect(node.module.indexStatus.position == 1)
            }
        }
    }

    @Test func `shows what was acknowledged while the index was not in use, once it is`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, listens: false) { node in
                node.index.standing.enter(.interrupted)
                // What a command does that was recorded at 5 while the index is still on its way there.
                await node.index.show(5)
                #expect(node.index.readable == nil)
                node.index.standing.enter(.inUse)
                // The index is in use at position 0, but must not be read before it holds position 5.
                #expect(node.index.index.snapshot.position == 0)
                #expect(node.index.readable == nil)
                node.index.index.apply(EventIndex.Batch(), position: 5)
                #expect(node.index.readable?.position == 5)
            }
        }
    }

    @Test func `does not let every reader wait for a write that the index did not show in time`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, listens: false) { node in
                // As show(_:) does after a second in vain; a fail-over that loses the write leaves it so.
                node.index.standing.mustShow(5)
                let start = ContinuousClock.now
                for _ in 0..<10 { _ = try await node.module.view() }
                #expect(.now - start < .seconds(10 * IndexUpdater.patienceSeconds))
            }
        }
    }

    @Test func `refuses a position that the read model does not show yet, and reads it from PostgreSQL once it does`()
        async throws
    {
        try await TestNode.withDatabase { database in
            try await database.withClient(role: "humon_app", connections: 3) { client in
                // Another version of the program: this one's read model is not its own.
                let other = EventLog(client: client, projections: [], logger: .quiet)
                let module = EventsModule(
                    log: other, database: client, index: nil, render: TestNode.render, dependencies: .system)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await other.run() }
                    defer { group.cancelAll() }
                    let (_, position) = try await module.create(
                        CreateEvent(details: .picnic, owner: .ann), context: CommandContext(requestID: "test"))
                    await #expect(throws: PositionNotReachedError(position: position)) {
                        try await module.view(atLeast: position)
                    }
                    // Once the read model has caught up, it is there.
                    try await ReadModels(projections: [EventsProjection()], client: client, logger: .quiet).prepare()
                    #expect(try await module.view(atLeast: position).nearest(.everywhere).count == 1)
                }
            }
        }
    }
}

import EventStore
import Notation
import Postgres
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `A node with a memory that meets faults` {
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
                try await eventually { try await node.module.reading().event(EventID(rawValue: 1_016))?.isFromMemory == true }
                #expect(try await node.module.examineMemory().differences == [])
            }
        }
    }

    @Test func `shows what was acknowledged while the memory was not in use, once it is`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, listens: false) { node in
                node.memory.standing.enter(.interrupted)
                // What a command does that was recorded at 5 while the memory is still on its way there.
                await node.memory.show(5)
                node.memory.standing.enter(.inUse)
                let snapshot = node.memory.readable
                #expect(snapshot?.position ?? 5 >= 5)
            }
        }
    }

    @Test func `does not let every reader wait for a write that the memory did not show in time`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, listens: false) { node in
                // As show(_:) does after a second in vain; a fail-over that loses the write leaves it so.
                node.memory.standing.mustShow(5)
                let start = ContinuousClock.now
                for _ in 0..<10 { _ = try await node.module.reading() }
                #expect(.now - start < .seconds(10 * MemoryKeeper.patienceSeconds))
            }
        }
    }

    @Test func `reads from PostgreSQL what is asked for with a position that the read model does not show yet`() async throws {
        try await TestNode.withDatabase { database in
            try await database.withClient(role: "humon_app", connections: 3) { client in
                // Another version of the program: this one's read model is not its own.
                let other = EventLog(client: client, projections: [], logger: .quiet)
                let module = EventsModule(
                    log: other, database: client, memory: nil, render: TestNode.render, surroundings: .system)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    group.addTask { try await other.run() }
                    defer { group.cancelAll() }
                    let (_, position) = try await module.create(
                        CreateEvent(details: .picnic, owner: .ann), origin: Origin(requestID: "test"))
                    let found = try? await module.reading(since: position).nearest(.everywhere).count
                    #expect(found == nil || found == 1)
                }
            }
        }
    }
}

import Postgres
import TestDatabase
import Testing
import Users

@testable import EventStore
@testable import Events

@Suite(.database) struct `Loading an index from a faulty read model` {
    @Test func `an index is not used while the read model has a faulty row, and loads after its repair`() async throws {
        let faults = [
            "lon = 'Infinity'", "lat = 'NaN'", "owner_id = 0", "version = 2147483647", "started_at = 'infinity'",
            "ended_at = '0044-03-15 12:00:00 BC'",
        ]
        try await TestNode.with(database) { node in
            for _ in 0..<3 { try await node.create() }
        }
        try await database.asSuperuser("CREATE TABLE sound AS SELECT * FROM events_v1.events")
        for fault in faults {
            try await database.asSuperuser(SQL(unsafeText: "UPDATE events_v1.events SET \(fault) WHERE id = 2"))
            try await TestNode.with(database, isFilled: false) { node in
                await #expect(throws: (any Error).self, "\(fault)") { try await node.index.load() }
                #expect(node.module.indexStatus.phase == .loading && node.module.indexStatus.isStarting, "\(fault)")
                _ = try await database.withClient { client in
                    try await client.withTransaction { connection in
                        try await connection.query("DELETE FROM events_v1.events")
                        try await connection.query("INSERT INTO events_v1.events SELECT * FROM sound")
                    }
                }
                try await eventually("\(fault)") { node.module.indexStatus.phase == .inUse }
                #expect(try await node.found(by: .everywhere).count == 3, "\(fault)")
            }
        }
    }
}

import Postgres
import TestDatabase
import Testing
import Users

@testable import EventStore
@testable import Events

@Suite struct `Loading an index from a faulty read model` {
    @Test(arguments: [
        "lon = 'Infinity'", "lat = 'NaN'", "x = 'Infinity'", "y = 'NaN'", "z = -2", "owner_id = 0", "version = 2147483647",
        "started_at = 'infinity'",
    ])
    func `an index is not used while the read model has a faulty row, and loads after its repair`(fault: String) async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                for _ in 0..<3 { try await node.create() }
            }
            try await database.withClient { client in
                try await client.query(SQL(unsafeText: "CREATE TABLE sound AS SELECT * FROM events_v2.events"))
                try await client.query(SQL(unsafeText: "UPDATE events_v2.events SET \(fault) WHERE id = 2"))
            }
            try await TestNode.with(database, isFilled: false) { node in
                await #expect(throws: (any Error).self) { try await node.index.load() }
                #expect(node.module.indexStatus.phase == .filling)
                _ = try await database.withClient { client in
                    try await client.withTransaction { connection in
                        try await connection.query("DELETE FROM events_v2.events")
                        try await connection.query("INSERT INTO events_v2.events SELECT * FROM sound")
                    }
                }
                try await eventually { node.module.indexStatus.phase == .inUse }
                #expect(try await node.found(by: .everywhere).count == 3)
            }
        }
    }
}

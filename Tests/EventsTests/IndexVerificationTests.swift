import EventStore
import Postgres
import SpatialIndex
import TestChance
import TestDatabase
import Testing

@testable import Events

@Suite struct `Comparing an index with the read model` {
    @Test func `a comparison finds no difference while two nodes write`() async throws {
        try await TestNode.withTwo { first, second in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for (seed, node) in [first, second, first, second].enumerated() {
                    group.addTask {
                        var generator = SeededGenerator(seed: UInt64(seed))
                        var own: [EventID] = []
                        for number in 0..<150 {
                            if let id = own.randomElement(using: &generator), generator.happens(inPercent: 60) {
                                try await node.update(id, to: .at(Int.random(in: 0..<1_000, using: &generator)))
                            } else {
                                own.append(try await node.create(.at(number)).id)
                            }
                        }
                    }
                }
                // A second comparison of a node waits for the first one.
                for node in [first, second, first] {
                    group.addTask {
                        for _ in 0..<10 {
                            let verification = try await node.module.verifyIndex()
                            #expect(verification.differences == [])
                            #expect(verification.differing == 0)
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await second.module.view(atLeast: 600).end.position == 600)
            let verifications = try await [first.module.verifyIndex(), second.module.verifyIndex()]
            #expect(verifications.map(\.cursor.position) == [600, 600])
            #expect(verifications.allSatisfy { $0.events > 150 && $0.differing == 0 })
            let found = try await [first.found(by: .everywhere, since: 600), second.found(by: .everywhere, since: 600)]
            #expect(found[0] == found[1])
        }
    }

    @Test(.database) func `a comparison holds no earlier state of the index while it waits for rows`() async throws {
        try await TestNode.with(database) { node in
            for number in 0..<20 { try await node.create(.at(number)) }
            let index = node.index.content.index
            let batch = try Self.copy(of: EventID(rawValue: 1), in: index)
            let comparison = try await database.withClient { client in
                try await client.withTransaction { connection in
                    try await connection.query("LOCK TABLE events_v1.events IN ACCESS EXCLUSIVE MODE")
                    let comparison = Task { try await node.module.verifyIndex() }
                    try await eventually("a comparison that waits for the rows") {
                        try await client.query(
                            "SELECT 1::bigint FROM pg_locks WHERE NOT granted AND relation = 'events_v1.events'::regclass"
                        ).isEmpty == false
                    }
                    let before = index.backlogBytes
                    for _ in 0..<500 { index.apply(batch, position: index.snapshot.position) }
                    // Each change replaces a leaf of 20 events, its parents and a page of ids.
                    #expect(index.backlogBytes < before + 100_000)
                    return comparison
                }
            }
            #expect(try await comparison.value.differing == 0)
        }
    }

    /// Keeps no entry of the index, which would hold its snapshot.
    private static func copy(of id: EventID, in index: EventIndex) throws -> EventIndex.Batch {
        let entry = try #require(index.snapshot.event(id))
        var batch = EventIndex.Batch()
        batch.put(id, HeldEvent(entry))
        return batch
    }

    @Test(.database) func `a comparison finds differing, missing and surplus events, and leaves out hidden ones`() async throws {
        try await TestNode.with(database) { node in
            for number in 0..<30 { try await node.create(.at(number)) }
            for number in 30..<33 { try await node.hide(node.create(.at(number)).id) }
            #expect(try await node.module.verifyIndex().differing == 0)
            _ = try await database.withClient { client in
                try await client.run([
                    "UPDATE events_v1.events SET name = 'Lie' WHERE id IN (3, 31)",
                    "UPDATE events_v1.events SET is_hidden = id = 6 WHERE id IN (6, 32)",
                    "UPDATE events_v1.events SET owner_id = 9 WHERE id = 4",
                    "UPDATE events_v1.events SET id = 77 WHERE id = 5",
                ])
            }
            let verification = try await node.module.verifyIndex()
            #expect(verification.differing == 6)
            #expect(
                verification.differences.sorted() == [
                    "2 events are held that are not there", "event 3 is held with other content",
                    "event 32 is held with version 0, not 2", "event 4 is held with other content",
                    "event 77 is held with version 0, not 1",
                ])
        }
    }
}

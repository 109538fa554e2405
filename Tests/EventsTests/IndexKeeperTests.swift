import Encoding
import EventStore
import Postgres
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `A node with a index` {
    @Test func `holds what was there before the node was, and answers as PostgreSQL does`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                for number in 0..<40 { try await first.create(.at(number)) }
                try await TestNode.with(database) { second in
                    let reading = try await second.module.view()
                    #expect(reading.position == 40)
                    for id in [1, 17, 40] as [Int64] {
                        let event = try #require(try await second.module.event(EventID(rawValue: id)))
                        var rendered: [UInt8] = []
                        TestNode.render(event, &rendered)
                        #expect(try await reading.event(event.id)?.text == String(decoding: rendered, as: UTF8.self))
                    }
                    let stored = try await second.module.nearest(.everywhere)
                    #expect(try await second.found(by: .everywhere) == stored.events.map(TestNode.text))
                    #expect(stored.events.count == 40)
                }
            }
        }
    }

    @Test func `shows what the node has written in the next read`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for writer in 0..<30 {
                        group.addTask {
                            for number in 0..<10 {
                                let (id, created) = try await node.create(.at(writer * 10 + number))
                                let first = try await node.module.view()
                                #expect(first.position ?? -1 >= created)
                                #expect(try await first.event(id)?.version == 1)
                                let updated = try await node.update(id, to: .concert)
                                let second = try await node.module.view()
                                #expect(second.position ?? -1 >= updated)
                                #expect(try await second.event(id)?.version == 2)
                                #expect(try await second.event(id)?.text.contains("of 1, version 2") == true)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                #expect(node.module.indexStatus.readsFromDatabase == 0)
            }
        }
    }

    @Test func `shows what another node has written, at once where the reader says what it has seen`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                try await TestNode.with(database) { second in
                    for number in 0..<50 {
                        let (writer, reader) = number % 2 == 0 ? (first, second) : (second, first)
                        let (id, position) = try await writer.create(.at(number))
                        let reading = try await reader.module.view(atLeast: position)
                        #expect(reading.position ?? -1 >= position)
                        #expect(try await reading.event(id)?.version == 1)
                    }
                    #expect(second.module.indexStatus.readsFromDatabase == 0)
                }
            }
        }
    }

    @Test func `that hears of nothing reads the others' writes from PostgreSQL, and promises none that there are not`()
        async throws
    {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                try await TestNode.with(database, listens: false) { deaf in
                    let (id, position) = try await first.create()
                    // Memory does not have it, and says so; what is asked for by id, or with its position, is found.
                    #expect(try await deaf.module.view().position == 0)
                    #expect(try await deaf.found(by: .everywhere).isEmpty)
                    #expect(try await deaf.module.view().event(id)?.version == 1)
                    #expect(try await deaf.found(by: .everywhere, since: position).count == 1)
                    await #expect(throws: PositionNotReachedError(position: 2)) { _ = try await deaf.module.view(atLeast: 2) }
                    // Nor is anybody kept waiting for it, who would have to be counted as under way.
                    let start = ContinuousClock.now
                    for _ in 0..<10 {
                        await #expect(throws: PositionNotReachedError(position: 99)) {
                            _ = try await first.module.view(atLeast: 99)
                        }
                    }
                    #expect(.now - start < .seconds(10 * IndexUpdater.patienceSeconds))
                    // What it writes itself it shows, with what it did not hear of before.
                    try await deaf.create(.concert)
                    #expect(try await deaf.found(by: .everywhere).count == 2)
                }
            }
        }
    }

    @Test func `gives up a index that would be too large, and reads from PostgreSQL`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, limitBytes: 50_000) { node in
                #expect(try await node.isReadFromMemory())
                var ids: [EventID] = []
                try await eventually("a index that is too large") {
                    for _ in 0..<50 { ids.append(try await node.create().id) }
                    return try await !node.isReadFromMemory()
                }
                #expect(node.module.indexStatus.phase == .tooSmall)
                #expect(node.module.indexStatus.bytes < 1_000)
                #expect((20...2_000).contains(ids.count))
                let last = try #require(ids.last)
                let position = try await node.update(last, to: .concert)
                #expect(try await node.module.view(atLeast: position).event(last)?.version == 2)
                #expect(node.module.indexStatus.readsFromDatabase > 0)
                try await TestNode.with(database, limitBytes: 1_000) { another in
                    #expect(another.module.indexStatus.phase == .tooSmall)
                    let found = try await [node.found(by: .everywhere), another.found(by: .everywhere)]
                    #expect(found[0] == found[1])
                }
            }
        }
    }

    @Test func `fills its index anew when the log has lost its end and goes on from further back`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                for number in 0..<5 { try await node.create(.at(number)) }
                #expect(try await node.found(by: .everywhere).count == 5)
                // As after a fail-over to a server that did not have the last of it.
                _ = try await database.withClient { client in
                    try await client.withConnection { connection in
                        try await connection.execute(
                            script: """
                                ALTER TABLE log.recorded_events DISABLE TRIGGER refuse_change;
                                DELETE FROM log.recorded_events WHERE position > 3;
                                ALTER TABLE log.recorded_events ENABLE ALWAYS TRIGGER refuse_change;
                                DELETE FROM events_v1.events WHERE id > 3;
                                """)
                    }
                }
                let (id, position) = try await node.create(.concert)
                #expect(position == 4)
                #expect(try await node.module.view().event(id)?.version == 1)
                #expect(try await node.found(by: .everywhere).count == 4)
                try await eventually { try await node.isReadFromMemory() }
                #expect(try await node.found(by: .everywhere).count == 4)
                #expect(try await node.module.examineMemory().differences == [])
            }
        }
    }

    @Test func `fills its index anew when others take the place of the read model`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                let (id, _) = try await node.create()
                // A lie that somebody wrote into the read model by hand, and a node that believes it.
                _ = try await database.withClient { try await $0.query("UPDATE events_v1.events SET name = 'Lie'") }
                try await TestNode.with(database) { fooled in
                    #expect(try await fooled.module.view().event(id)?.text.contains("Lie") == true)
                    try await database.withClient(role: "humon_app", connections: 4) { client in
                        let models = ReadModels(projections: [EventsProjection()], client: client, logger: .quiet)
                        try await models.rebuild { _ in }
                    }
                    try await eventually { try await fooled.module.view().event(id)?.text.contains("Picnic") == true }
                    try await eventually { try await fooled.isReadFromMemory() }
                    #expect(try await fooled.module.view().event(id)?.text.contains("Picnic") == true)
                }
            }
        }
    }
}

@Suite struct `A comparison of a node's memory with the read model` {
    @Test func `finds them equal while two nodes go on writing`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                try await TestNode.with(database) { second in
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
                        for node in [first, second] {
                            group.addTask {
                                for _ in 0..<10 {
                                    let verification = try await node.module.examineMemory()
                                    #expect(verification.differences == [])
                                    #expect(verification.differing == 0)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    #expect(try await second.module.view(atLeast: 600).position == 600)
                    let verifications = try await [first.module.examineMemory(), second.module.examineMemory()]
                    #expect(verifications.map(\.position) == [600, 600])
                    #expect(verifications.allSatisfy { $0.events > 150 && $0.differing == 0 })
                    let found = try await [first.found(by: .everywhere, since: 600), second.found(by: .everywhere, since: 600)]
                    #expect(found[0] == found[1])
                }
            }
        }
    }

    @Test func `finds what differs, what is not held and what is not there`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { node in
                for number in 0..<30 { try await node.create(.at(number)) }
                #expect(try await node.module.examineMemory().differing == 0)
                _ = try await database.withClient { client in
                    try await client.query("UPDATE events_v1.events SET name = 'Lie' WHERE id = 3")
                    try await client.query("UPDATE events_v1.events SET owner_id = 9 WHERE id = 4")
                    try await client.query("UPDATE events_v1.events SET id = 77 WHERE id = 5")
                }
                let verification = try await node.module.examineMemory()
                #expect(verification.events == 30)
                #expect(verification.differing == 4)
                #expect(
                    verification.differences.sorted() == [
                        "1 events are held that are not there", "event 3 is held with other content",
                        "event 4 is held with other content", "event 77 is held with version 0, not 1",
                    ])
            }
        }
    }

    @Test func `is refused where the index is not in use`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, limitBytes: 0) { node in
                try await node.create()
                try await eventually { node.module.indexStatus.phase == .tooSmall }
                await #expect(throws: IndexNotInUseError.self) { try await node.module.examineMemory() }
            }
        }
    }
}

extension EventDetails {
    /// One of many places.
    fileprivate static func at(_ number: Int) -> EventDetails {
        var details = EventDetails.picnic
        details.name = "Picnic \(number)"
        details.coordinates = Coordinates(lat: Double(number * 7 % 170) - 85, lon: Double(number * 13 % 360) - 180)
        return details
    }
}

extension TestNode {
    fileprivate static func text(_ event: Event) -> String {
        var bytes: [UInt8] = []
        render(event, &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }
}

import Encoding
import EventStore
import Postgres
import SpatialIndex
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Following the log with an index` {
    @Test func `a read with a position shows another node's write at once`() async throws {
        try await TestNode.withTwo { first, second in
            for number in 0..<50 {
                let (writer, reader) = number % 2 == 0 ? (first, second) : (second, first)
                let (id, position) = try await writer.create(.at(number))
                let reading = try await reader.module.view(atLeast: position)
                #expect(reading.end?.position ?? -1 >= position)
                #expect(try await reading.event(id)?.version == 1)
            }
            #expect(second.module.reads.fromDatabase == 0)
        }
    }

    @Test func `a node without notifications reads other nodes' writes from PostgreSQL and refuses positions beyond the log`()
        async throws
    {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                try await TestNode.with(database, listens: false) { deaf in
                    let (id, position) = try await first.create()
                    // The index lacks the event. A read by id or with the event's position still finds the event.
                    #expect(try await deaf.module.view().end?.position == 0)
                    #expect(try await deaf.found(by: .everywhere).isEmpty)
                    #expect(try await deaf.module.view().event(id)?.version == 1)
                    #expect(try await deaf.found(by: .everywhere, since: position).count == 1)
                    await #expect(throws: PositionNotReachedError(position: 2)) { _ = try await deaf.module.view(atLeast: 2) }
                    // A read at a position beyond the log does not wait, because a waiting request would count as in flight.
                    let start = ContinuousClock.now
                    for _ in 0..<60 {
                        await #expect(throws: PositionNotReachedError(position: 99)) {
                            _ = try await first.module.view(atLeast: 99)
                        }
                    }
                    #expect(.now - start < .seconds(60 * InMemoryReadModel.patienceSeconds))
                    // The node's own write shows, together with the write that it was not notified of.
                    try await deaf.create(.concert)
                    #expect(try await deaf.found(by: .everywhere).count == 2)
                }
            }
        }
    }

    @Test func `an index that exceeds its limit is dropped and not compared, and reads go to PostgreSQL`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database, limitBytes: 50_000) { node in
                #expect(try await node.isReadFromIndex())
                var last = EventID(rawValue: 0)
                try await eventually("an index that is too large") {
                    for _ in 0..<50 { last = try await node.create().id }
                    return try await !node.isReadFromIndex()
                }
                #expect(node.module.indexStatus.phase == .tooSmall)
                #expect(node.module.indexStatus.bytes < 1_000)
                await #expect(throws: IndexNotInUseError.self) { try await node.module.verifyIndex() }
                let position = try await node.update(last, to: .concert)
                #expect(try await node.module.view(atLeast: position).event(last)?.version == 2)
                #expect(node.module.reads.fromDatabase > 0)
                try await TestNode.with(database, limitBytes: 1_000) { another in
                    #expect(another.module.indexStatus.phase == .tooSmall)
                    let found = try await [node.found(by: .everywhere), another.found(by: .everywhere)]
                    #expect(found[0] == found[1])
                }
            }
        }
    }
}

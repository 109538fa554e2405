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
                #expect(reading.end.position >= position)
                #expect(reading.event(id)?.version == 1)
            }
            #expect(second.module.readCount == 25)
        }
    }

    @Test(.database)
    func `a reader wakes the index of a node without notifications, and a position beyond the log is refused`() async throws {
        try await TestNode.with(database) { first in
            try await TestNode.with(database, listens: false) { deaf in
                let (id, position) = try await first.create()
                // The index lacks the event. A read with the event's position finds it, and so does a read by id.
                #expect(try await deaf.module.view().end.position == 0)
                #expect(try await deaf.found(by: .everywhere).isEmpty)
                #expect(try await deaf.module.ownEvents(of: .ann, after: nil, limit: 1).events.isEmpty)
                #expect(try await deaf.found(by: .everywhere, since: position).count == 1)
                let (other, last) = try await first.create(.concert)
                #expect(deaf.index.content.count == 1)
                let (event, view) = try await deaf.module.readEvent(other)
                #expect(event.version == 1 && view.end.position == last)
                await #expect(throws: EventRejection.notFound) { try await deaf.module.readEvent(EventID(rawValue: 99)) }
                await #expect(throws: PositionNotReachedError(position: 3)) { _ = try await deaf.module.view(atLeast: 3) }
                // A read at a position beyond the log does not wait, because a waiting request would count as in flight.
                let start = ContinuousClock.now
                for _ in 0..<60 {
                    await #expect(throws: PositionNotReachedError(position: 99)) {
                        _ = try await first.module.view(atLeast: 99)
                    }
                }
                #expect(.now - start < .seconds(60 * InMemoryReadModel.patienceSeconds))
                // The node's own write shows, together with the write that it was not notified of.
                try await first.cancel(id)
                try await deaf.create(.concert)
                #expect(try await deaf.found(by: .everywhere).count == 2)
            }
        }
    }

    @Test(.database)
    func `a full index refuses new events, and goes on with changes, reads and commits of other nodes`() async throws {
        try await TestNode.with(database) { roomy in
            try await TestNode.with(database, limitBytes: 50_000) { node in
                var last = EventID(rawValue: 0)
                try await eventually("a full index") {
                    do {
                        last = try await node.create().id
                        return false
                    } catch is IndexFullError {
                        return true
                    }
                }
                let position = try await node.update(last, to: .concert)
                #expect(try await node.module.readEvent(last, atLeast: position).event.version == 2)
                let beyond = try await roomy.create()
                #expect(try await node.module.readEvent(beyond.id, atLeast: beyond.position).event.version == 1)
                #expect(node.module.indexStatus.phase == .inUse)
                #expect(node.module.indexStatus.bytes > 40_000)
                // A start never refuses to load.
                try await TestNode.with(database, limitBytes: 1_000) { another in
                    let found = try await [node.found(by: .everywhere), another.found(by: .everywhere)]
                    #expect(found[0] == found[1] && found[0].count > 10)
                    await #expect(throws: IndexFullError()) { try await another.create() }
                }
            }
        }
    }
}

import EventStore
import TestDatabase
import Testing
import Users

@testable import Events

private let away = NearestRequest.everywhere

@Suite struct `An index with cancelled and hidden events` {
    @Test func `cancelled and hidden events leave the indexes of all nodes, and unhidden events come back`() async throws {
        try await TestNode.withTwo { first, second in
            let ids = try await [first.create(), first.create(.concert), second.create(by: .bob)].map(\.id)
            try await first.cancel(ids[0])
            try await second.hide(ids[1])
            let hidden = try await second.hide(ids[2])
            for node in [first, second] {
                #expect(try await node.found(by: away, since: hidden).isEmpty)
                #expect(try await node.own(since: hidden).isEmpty)
                #expect(try await node.module.verifyIndex().differences == [])
                await #expect(throws: EventRejection.cancelled) { try await node.module.readEvent(ids[0]) }
                await #expect(throws: EventRejection.notFound) { try await node.module.readEvent(ids[1]) }
                await #expect(throws: EventRejection.notFound) { try await node.module.readEvent(ids[2]) { .ann } }
                await #expect(throws: EventRejection.hidden) { try await node.module.readEvent(ids[2]) { .bob } }
            }
            let shown = try await first.unhide(ids[1])
            for node in [first, second] {
                #expect(try await node.found(by: away, since: shown).count == 1)
                #expect(try await node.own(since: shown) == [ids[1]])
                let event = try #require(try await node.module.view(atLeast: shown).event(ids[1]))
                #expect(event.version == 3)
                #expect(event.text.contains("Concert"))
                #expect(try await node.module.verifyIndex().differences == [])
                #expect(node.module.indexStatus.phase == .inUse)
            }
        }
    }

    @Test(.database) func `a node that starts while an event is hidden shows the event when it is unhidden`() async throws {
        try await TestNode.with(database) { first in
            let ids = try await [first.create(), first.create(.concert), first.create()].map(\.id)
            try await first.cancel(ids[0])
            try await first.hide(ids[1])
            try await TestNode.with(database) { second in
                #expect(second.module.indexStatus.count == 1)
                #expect(try await second.own() == [ids[2]])
                let position = try await first.unhide(ids[1])
                #expect(try await second.module.view(atLeast: position).event(ids[1]) != nil)
                #expect(try await second.own() == [ids[2], ids[1]])
                #expect(try await second.module.verifyIndex().differences == [])
            }
        }
    }
}

import EventStore
import Postgres
import SpatialIndex
import Synchronization
import TestDatabase
import Testing

@testable import Events

/// Records when the index comes into use, is mended, or goes out of use.
final class Recorder: EventChangeListener {
    private let state = Mutex((loaded: 0, closed: 0))

    func indexLoaded(at cursor: LogCursor) { state.withLock { $0.loaded += 1 } }
    func indexApplied(_ changes: [EventChange], through cursor: LogCursor) {}
    func indexClosed() { state.withLock { $0.closed += 1 } }

    /// The numbers of loads and mends, and of drops.
    var counts: [Int] { state.withLock { [$0.loaded, $0.closed] } }
}

@Suite struct `Mending an index after a rebuild` {
    /// Changes the content and nothing else, as if it was loaded from wrong tables.
    private static func spoil(_ node: TestNode<EventsModule>, _ batch: EventIndex.Batch) {
        node.index.writer.withLock { _ in
            let index = node.index.content.index
            index.apply(batch, position: index.snapshot.position, mark: index.snapshot.mark)
        }
    }

    /// Makes new tables, and waits until the node's index agrees with them.
    private static func rebuild(_ database: TestDatabase, _ node: TestNode<EventsModule>) async throws {
        _ = try await database.withClient(role: "log_app", connections: 4) { client in
            try await ReadModels(projections: [EventsProjection()], client: client, logger: .quiet).rebuild { _ in }
        }
        let tables = try await ReadModelState.of(EventsProjection.self, node.client).tableGeneration
        try await eventually("an index that agrees with the new tables") { node.index.tables == tables }
    }

    @Test(.database) func `differences are mended in place while two nodes write`() async throws {
        let recorder = Recorder()
        try await TestNode.with(database, listener: recorder) { first in
            try await TestNode.with(database) { second in
                for number in 0..<40 { try await first.create(.at(number)) }
                let (there, here) = (EventDetails.at(7).place, EventDetails.picnic.place)
                var lies = EventIndex.Batch()
                lies.put(EventID(rawValue: 1), HeldEvent(owner: .bob, version: 40, place: there, json: Array("Lie".utf8)))
                lies.remove(EventID(rawValue: 2))
                var other = try #require(first.index.content.index.snapshot.event(EventID(rawValue: 40)).map(HeldEvent.init))
                other.words = Array(" lie".utf8)
                lies.put(EventID(rawValue: 40), other)
                lies.put(EventID(rawValue: 9_000), HeldEvent(owner: .bob, version: 1, place: here, json: Array("Lie".utf8)))
                Self.spoil(first, lies)
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for (number, node) in [first, second, first, second].enumerated() {
                        group.addTask {
                            for round in 0..<100 {
                                let id = EventID(rawValue: Int64(3 + 9 * number + round % 9))
                                try await node.update(id, to: .at(round))
                                #expect(first.index.state.isInUse)
                            }
                        }
                    }
                    group.addTask { try await Self.rebuild(database, first) }
                    try await group.waitForAll()
                }
                #expect(recorder.counts == [2, 0])
                let mended = first.index.content.index.snapshot.event(EventID(rawValue: 40)).map(HeldEvent.init)
                #expect(mended == second.index.content.index.snapshot.event(EventID(rawValue: 40)).map(HeldEvent.init))
                for node in [first, second] { #expect(try await node.module.verifyIndex().differences == []) }
                let last = try await first.create().position
                let found = try await [first.found(by: .everywhere, since: last), second.found(by: .everywhere, since: last)]
                #expect(found[0] == found[1] && found[0].count == 41)
            }
        }
    }

    @Test(.database)
    func `a content that was loaded from wrong tables is mended, and a hidden event comes back as the log has it`()
        async throws
    {
        let recorder = Recorder()
        try await TestNode.with(database) { node in
            try await node.create()
            try await node.hide(node.create(.concert).id)
        }
        _ = try await database.withClient { try await $0.query("UPDATE events_v1.events SET name = 'Lie', owner_id = 2") }
        try await TestNode.with(database, listener: recorder) { node in
            let before = try await node.module.view()
            #expect(try await node.own(of: .bob).count == 1)
            try await Self.rebuild(database, node)
            #expect(recorder.counts == [2, 0])
            let after = try await node.module.view()
            // The log did not grow, and the lists changed all the same.
            #expect(after.end == before.end && after.listMark != before.listMark)
            try await node.unhide(EventID(rawValue: 2))
            #expect(try await node.own(of: .bob).isEmpty)
            #expect(try await node.own().map(\.rawValue) == [2, 1])
            #expect(try await node.found(by: .everywhere).count { $0.contains("Lie") } == 0)
            #expect(try await node.module.verifyIndex().differences == [])
        }
    }

    @Test(.database) func `equal tables begin no stream of changes again`() async throws {
        let recorder = Recorder()
        try await TestNode.with(database, listener: recorder) { node in
            try await node.create()
            try await Self.rebuild(database, node)
            #expect(recorder.counts == [1, 0])
        }
    }

    @Test(.database) func `a content with more than 10,000 differences is dropped and loaded`() async throws {
        let recorder = Recorder()
        try await TestNode.with(database, listener: recorder) { node in
            try await node.create()
            let place = EventDetails.picnic.place
            var surplus = EventIndex.Batch()
            for id in 2...Int64(IndexVerification.mendingLimit + 2) {
                surplus.put(EventID(rawValue: id), HeldEvent(owner: .bob, version: 1, place: place, json: Array("Lie".utf8)))
            }
            Self.spoil(node, surplus)
            #expect(try await node.module.verifyIndex().differing == IndexVerification.mendingLimit + 1)
            try await Self.rebuild(database, node)
            #expect(recorder.counts == [2, 1])
            #expect(node.index.content.count == 1)
        }
    }

    @Test(.node()) func `a mend leaves out what changed since its comparison began`() async throws {
        let (cancelled, other) = (try await node.create().id, try await node.create().id)
        let held = try #require(node.index.content.index.snapshot.event(cancelled).map(HeldEvent.init))
        node.index.writer.withLock { $0.changed = [] }
        try await node.cancel(cancelled)
        let outcomes: [EventID: IndexChanges.Outcome] = [
            cancelled: IndexChanges.Outcome(version: 1, event: held), other: IndexChanges.Outcome(version: 0, event: nil),
        ]
        #expect(try node.index.mend(outcomes, by: "other tables") == 1)
        #expect(node.index.content.count == 0)
    }
}

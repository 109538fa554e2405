import EventStore
import Postgres
import Synchronization
import TestDatabase
import Testing
import Users

@testable import Events

/// Records what a listener gets, and assembles the places that lists show.
private final class Recorder: EventChangeListener {
    struct State: Sendable {
        var loaded: [Int64] = []
        var closed = 0
        var through: Int64 = 0
        var changes: [EventChange] = []
        var faults: [String] = []
    }

    let state = Mutex(State())

    func indexLoaded(at position: Int64) {
        state.withLock { state in
            state.loaded.append(position)
            state.through = position
        }
    }

    func indexApplied(_ changes: [EventChange], through position: Int64) {
        state.withLock { state in
            if position <= state.through { state.faults.append("through \(position) after \(state.through)") }
            for change in changes where !(state.through + 1...position).contains(change.position) {
                state.faults.append("change \(change.position) outside of \(state.through + 1)...\(position)")
            }
            state.changes += changes
            state.through = position
        }
    }

    func indexClosed() { state.withLock { $0.closed += 1 } }

    var now: State { state.withLock(\.self) }
}

private let away = NearbySearch.everywhere

@Suite struct `An index with cancelled and hidden events` {
    @Test func `cancelled and hidden events leave the indexes of all nodes, and unhidden events come back`() async throws {
        try await TestNode.withTwo { first, second in
            let ids = try await [first.create(), first.create(.concert), second.create(by: .bob)].map(\.id)
            try await first.cancel(ids[0])
            try await second.hide(ids[1])
            let hidden = try await second.hide(ids[2])
            for node in [first, second] {
                #expect(try await node.found(by: away, since: hidden).isEmpty)
                #expect(try await node.module.verifyIndex().differences == [])
                await #expect(throws: EventRejection.cancelled) { try await node.module.view().event(ids[0]) }
                await #expect(throws: EventRejection.notFound) { try await node.module.view().event(ids[1]) }
                await #expect(throws: EventRejection.notFound) { try await node.module.view().event(ids[2]) { .ann } }
                await #expect(throws: EventRejection.hidden) { try await node.module.view().event(ids[2]) { .bob } }
            }
            let shown = try await first.unhide(ids[1])
            for node in [first, second] {
                #expect(try await node.found(by: away, since: shown).count == 1)
                let event = try #require(try await node.module.view(atLeast: shown).event(ids[1]))
                #expect(event.isFromIndex)
                #expect(event.version == 3)
                #expect(event.text.contains("Concert"))
                #expect(try await node.module.verifyIndex().differences == [])
                #expect(node.module.indexStatus.phase == .inUse)
            }
        }
    }

    @Test func `a node that starts while an event is hidden shows the event when it is unhidden`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                let ids = try await [first.create(), first.create(.concert), first.create()].map(\.id)
                try await first.cancel(ids[0])
                try await first.hide(ids[1])
                let recorder = Recorder()
                try await TestNode.with(database, listener: recorder) { second in
                    #expect(second.module.indexStatus.count == 1)
                    let position = try await first.unhide(ids[1])
                    #expect(try await second.module.view(atLeast: position).event(ids[1])?.isFromIndex == true)
                    #expect(try await second.module.verifyIndex().differences == [])
                    try await eventually { recorder.now.through == position }
                    let now = recorder.now
                    #expect(now.loaded == [5])
                    #expect(now.changes.map(\.id) == [ids[1]])
                    #expect(now.changes.map(\.before) == [nil])
                    #expect(now.changes.map(\.after) == [EventDetails.concert.place])
                }
            }
        }
    }

    @Test func `the listener gets every position once and in order while two nodes write`() async throws {
        try await TestNode.withDatabase { database in
            let recorders = [Recorder(), Recorder()]
            try await TestNode.with(database, listener: recorders[0]) { first in
                try await TestNode.with(database, listener: recorders[1]) { second in
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        for node in [first, second, first, second] {
                            group.addTask {
                                for _ in 0..<20 {
                                    let id = try await node.create().id
                                    try await node.update(id, to: .concert)
                                    try await node.hide(id)
                                    try await node.unhide(id)
                                    try await node.cancel(id)
                                }
                            }
                        }
                        try await group.waitForAll()
                    }
                    let places = [EventDetails.picnic.place, EventDetails.concert.place]
                    for (node, recorder) in zip([first, second], recorders) {
                        try await eventually { recorder.now.through == 400 }
                        #expect(try await node.module.view(atLeast: 400).position == 400)
                        let now = recorder.now
                        #expect(now.faults == [])
                        #expect(now.loaded == [0])
                        #expect(now.closed == 0)
                        #expect(now.changes.map(\.position) == Array(1...400))
                        for changes in Dictionary(grouping: now.changes, by: \.id).values {
                            #expect(changes.map(\.after) == [places[0], places[1], nil, places[1], nil])
                            #expect(changes.map(\.before) == [nil, places[0], places[1], nil, places[1]])
                        }
                        #expect(node.module.indexStatus.count == 0)
                        #expect(try await node.module.verifyIndex().differences == [])
                    }
                }
            }
        }
    }

    @Test func `the listener learns that the index is out of use, and where it is loaded again`() async throws {
        try await TestNode.withDatabase { database in
            let recorder = Recorder()
            try await TestNode.with(database) { node in try await node.create() }
            // A wrong value that the index loads: it differs from the tables of a rebuild.
            _ = try await database.withClient { try await $0.query("UPDATE events_v1.events SET name = 'Lie'") }
            try await TestNode.with(database, listener: recorder) { _ in
                _ = try await database.withClient(role: "log_app", connections: 4) { client in
                    try await ReadModels(projections: [EventsProjection()], client: client, logger: .quiet).rebuild { _ in }
                }
                try await eventually { recorder.now.loaded.count == 2 }
                #expect(recorder.now.closed == 1)
                #expect(recorder.now.loaded == [1, 1])
            }
        }
    }
}

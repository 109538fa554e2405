import EventStore
import SpatialIndex
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Events that were cancelled lately` {
    private static func ids(_ node: TestNode<EventsModule>) -> [Int64] {
        node.index.content.calendar?.cancelled.entries(after: nil, limit: 1_000).map(\.id) ?? []
    }

    @Test func `all nodes keep a cancelled event until it is hidden or erased, also one that starts later`() async throws {
        try await TestNode.withDatabase { database in
            try await TestNode.with(database) { first in
                let ids = try await [first.create(), first.create(.concert), first.create()].map(\.id)
                for id in ids { try await first.cancel(id) }
                #expect(Self.ids(first) == ids.map(\.rawValue))
                let hidden = try await first.hide(ids[1])
                try await TestNode.with(database) { second in
                    _ = try await second.module.view(atLeast: hidden)
                    for node in [first, second] { #expect(Self.ids(node) == [ids[0].rawValue, ids[2].rawValue]) }
                    let entry = try #require(second.index.content.calendar?.cancelled.entry(ids[0].rawValue))
                    #expect(
                        HeldEvent(entry) == first.index.content.calendar?.cancelled.entry(ids[0].rawValue).map(HeldEvent.init))
                    let shown = try await first.unhide(ids[1])
                    _ = try await second.module.view(atLeast: shown)
                    #expect(Self.ids(second) == [ids[0].rawValue, ids[2].rawValue])
                }
            }
        }
    }

    @Test func `what a segment of the log did to an event decides whether calendars show it`() {
        let created = EventDomainEvent.created(by: .ann, .picnic)
        func outcome(_ events: EventDomainEvent...) -> IndexChanges.Outcome? {
            let recorded = events.enumerated().map { offset, event in
                (position: Int64(offset + 1), envelope: EventEnvelope.of(12, version: Int32(offset + 1), event))
            }
            return IndexChanges(recorded, render: { $1.append(contentsOf: $0.details.name.utf8) }) { _ in nil }
                .events[EventID(rawValue: 12)]
        }
        let cancelled = outcome(created, .cancelled)
        #expect(cancelled?.event == nil && cancelled?.cancelled?.version == 2 && cancelled?.isWithdrawn == false)
        #expect(cancelled?.cancelled?.note.time == .startOfPicnic)
        // An imported log may have changes of a cancelled event.
        for later: EventDomainEvent in [.cancelled, .updated(.concert)] {
            let outcome = outcome(created, .cancelled, later)
            #expect(outcome?.event == nil && outcome?.cancelled == cancelled?.cancelled && outcome?.isWithdrawn == false)
        }
        #expect(outcome(created, .cancelled, .fraud)?.isWithdrawn == true)
        #expect(outcome(created, .cancelled, .fraud, .unhidden(nil))?.isWithdrawn == true)
        #expect(outcome(created, .updated(.concert))?.cancelled == nil)
    }

    /// An event that was cancelled after some days.
    private static func cancelled(_ id: Int64, after days: Int) -> (EventID, IndexChanges.Outcome) {
        let place = EventDetails.picnic.place
        let held = HeldEvent(
            owner: .ann, version: 2, place: place, note: EventNote(revisedAt: UInt32(days) * 86_400), json: [0x30])
        return (EventID(rawValue: id), IndexChanges.Outcome(version: 2, event: nil, cancelled: held))
    }

    @Test func `what is older than 30 days goes with later changes, a few at once`() {
        let old = (1...100).map { Self.cancelled($0, after: 1) }
        var events = CancelledEvents(old.compactMap { id, outcome in outcome.cancelled.map { (id, $0) } }, position: 1)
        events.apply([EventID(rawValue: 7): IndexChanges.Outcome(version: 3, isWithdrawn: true)], position: 2)
        #expect(events.index.snapshot.count == 99 && events.owned.count(of: .ann) == 99)
        var counts: [Int] = []
        for (number, days) in [(101, 30), (102, 31), (103, 31), (104, 31), (105, 31), (106, 31), (107, 31), (108, 31)] {
            events.apply(Dictionary(uniqueKeysWithValues: [Self.cancelled(Int64(number), after: days)]), position: Int64(number))
            counts.append(events.index.snapshot.count)
        }
        #expect(counts.first == 100)
        #expect(zip(counts, counts.dropFirst()).allSatisfy { $1 >= $0 - 16 } && counts.last == 8)
        #expect(events.owned.count(of: .ann) == 8)
    }
}

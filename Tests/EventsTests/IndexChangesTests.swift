import Encoding
import EventStore
import SpatialIndex
import TestChance
import Testing
import Users

@testable import Events

private let twelve = EventID(rawValue: 12)

extension HeldEvent {
    fileprivate static func of(_ details: EventDetails, version: Int32 = 1, isHidden: Bool = false) -> HeldEvent {
        HeldEvent(owner: .ann, version: version, place: details.place, json: rendered(details), isHidden: isHidden)
    }
}

private func rendered(_ details: EventDetails) -> [UInt8] { Array(details.name.utf8) }

private func updated(_ details: EventDetails) -> EventDomainEvent { .updated(details) }

/// The changes of event 12 by these domain events, from position 101 and the next version on.
private func changes(of before: HeldEvent?, by events: EventDomainEvent...) -> IndexChanges {
    let version = before?.version ?? 0
    let recorded = events.enumerated().map { offset, event in
        (position: Int64(101 + offset), envelope: EventEnvelope.of(12, version: version + Int32(offset) + 1, event))
    }
    return IndexChanges(recorded, render: { $1.append(contentsOf: rendered($0.details)) }) { $0 == twelve ? before : nil }
}

@Suite struct `Changes of the index` {
    @Test func `streams of other categories change nothing`() {
        var foreign = EventEnvelope.of(12, version: 1, .cancelled)
        foreign.stream = StreamName("user-12")
        let changes = IndexChanges([(position: Int64(1), envelope: foreign)], render: { _, _ in }) { _ in nil }
        #expect(changes.changes.isEmpty)
        #expect(changes.events.isEmpty)
    }
}

@Suite struct `Keeping the index in step with changes` {
    /// The index of a node, without its log.
    private struct Node {
        let index = EventIndex()
        var hidden = HiddenEvents()
        var owned = OwnedEvents()
        var changes: [EventChange] = []

        mutating func apply(_ recorded: ArraySlice<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)>) {
            let (snapshot, hidden) = (index.snapshot, hidden)
            let found = IndexChanges(recorded, render: { $1.append(contentsOf: rendered($0.details)) }) { id in
                hidden.events[id] ?? snapshot.event(id).map(HeldEvent.init)
            }
            index.apply(EventIndex.Batch(found.events), position: recorded.last?.position ?? 0)
            self.hidden.apply(found.events)
            owned.apply(found.events, to: snapshot)
            changes += found.changes
        }

        var contents: [String] {
            (1...8 as ClosedRange<Int64>).map { id in
                let held = index.snapshot.event(EventID(rawValue: id)).map(HeldEvent.init) ?? hidden.events[EventID(rawValue: id)]
                return held.map { "\($0.version) \($0.isHidden) \(String(decoding: $0.json, as: UTF8.self))" } ?? "-"
            }
        }
    }

    /// Histories with changes that the rules refuse, as an imported log may have them.
    private static func history(seed: UInt64) -> [(position: Int64, envelope: EventEnvelope<EventDomainEvent>)] {
        var generator = SeededGenerator(seed: seed)
        var versions: [Int64: Int32] = [:]
        return (1...200 as ClosedRange<Int64>).map { position in
            let id = Int64.random(in: 1...8, using: &generator)
            let version = versions[id, default: 0] + 1
            versions[id] = version
            let events: [EventDomainEvent] = [
                .cancelled, .fraud, .fraud, .unhidden, .unhidden, updated(.picnic), updated(.concert),
                updated(.concert),
            ]
            let event =
                version == 1 ? .created(by: id < 3 ? .ann : .bob, .picnic) : events.randomElement(using: &generator)
            return (position, .of(id, version: version, event ?? .cancelled))
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `nodes that get a history in different segments see the same changes and hold the same events`(seed: UInt64) {
        let history = Self.history(seed: seed)
        let nodes = [200, 1, 7, 30].map { size in
            var node = Node()
            for start in stride(from: 0, to: history.count, by: size) { node.apply(history[start...].prefix(size)) }
            return node
        }
        // What the read model has after the same history.
        let expected = history.reduce(into: [EventID: Event]()) { $0.apply($1.envelope) }
        let contents = (1...8 as ClosedRange<Int64>).map { id -> String in
            guard let event = expected[EventID(rawValue: id)], !event.isCancelled else { return "-" }
            return "\(event.version) \(event.isHidden) \(event.details.name)"
        }
        for node in nodes {
            #expect(node.contents == contents)
            #expect(node.index.snapshot.count == expected.values.count(where: \.isLive))
            for owner in [UserID.ann, .bob] {
                let own = expected.values.filter { $0.isLive && $0.owner == owner }.map(\.id.rawValue).sorted { $0 > $1 }
                #expect(node.owned.page(of: owner, before: nil, limit: 8).map(\.rawValue) == own)
                #expect(node.owned.count(of: owner) == own.count)
            }
            #expect(node.changes.map(\.position) == Array(1...200))
            #expect(node.changes.map(\.before) == nodes[0].changes.map(\.before))
            #expect(node.changes.map(\.after) == nodes[0].changes.map(\.after))
            #expect(node.changes.map(\.json) == nodes[0].changes.map(\.json))
        }
        // Every change begins where the one before it ended: at the place of a live event, or nowhere.
        var (last, events): ([EventID: EventPlace], [EventID: Event]) = ([:], [:])
        for (change, recorded) in zip(nodes[0].changes, history) {
            events.apply(recorded.envelope)
            let live = events[change.id].flatMap { $0.isLive ? $0.details : nil }
            #expect(change.before == last[change.id], "position \(change.position)")
            #expect(change.after == live?.place, "position \(change.position)")
            #expect(change.json == live.map(rendered) ?? [], "position \(change.position)")
            last[change.id] = change.after
        }
    }

    @Test func `hidden events take memory while they are hidden`() {
        var hidden = HiddenEvents([twelve: .of(.picnic, version: 4, isHidden: true)])
        #expect(hidden.bytes == 6)
        hidden.apply(changes(of: .of(.picnic, version: 4, isHidden: true), by: updated(.concert)).events)
        #expect(hidden.bytes == 7)
        hidden.apply(changes(of: .of(.concert, version: 5, isHidden: true), by: .cancelled).events)
        #expect(hidden.bytes == 0)
        #expect(hidden.events.isEmpty)
        hidden.apply(changes(of: .of(.concert, version: 5, isHidden: true), by: .unhidden).events)
        #expect(hidden.events.isEmpty)
    }
}

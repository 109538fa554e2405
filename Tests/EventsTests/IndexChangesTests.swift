import Encoding
import EventStore
import SpatialIndex
import TestChance
import Testing
import Users

@testable import Events

private func rendered(_ details: EventDetails) -> [UInt8] { Array(details.name.utf8) }

private func updated(_ details: EventDetails) -> EventDomainEvent { .updated(details) }

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
        var owned = OwnedEvents()
        var changes: [EventChange] = []

        mutating func apply(_ recorded: ArraySlice<(position: Int64, envelope: EventEnvelope<EventDomainEvent>)>) {
            let snapshot = index.snapshot
            let found = IndexChanges(recorded, render: { $1.append(contentsOf: rendered($0.details)) }) { id in
                snapshot.event(id).map(HeldEvent.init)
            }
            index.apply(EventIndex.Batch(found.events), position: recorded.last?.position ?? 0)
            owned.apply(found.events, to: snapshot)
            changes += found.changes
        }

        var contents: [String] {
            (1...8 as ClosedRange<Int64>).map { id in
                let held = index.snapshot.event(EventID(rawValue: id)).map(HeldEvent.init)
                return held.map { "\($0.version) \(String(decoding: $0.json, as: UTF8.self))" } ?? "-"
            }
        }
    }

    /// Histories with changes that the rules refuse, as an imported log may have them.
    private static func history(seed: UInt64) -> [(position: Int64, envelope: EventEnvelope<EventDomainEvent>)] {
        var generator = SeededGenerator(seed: seed)
        var (versions, events): ([Int64: Int32], [EventID: Event]) = ([:], [:])
        return (1...200 as ClosedRange<Int64>).map { position in
            let id = Int64.random(in: 1...8, using: &generator)
            let version = versions[id, default: 0] + 1
            versions[id] = version
            // As the rule records it.
            let shown = events[EventID(rawValue: id)].flatMap { $0.isCancelled ? nil : OwnedDetails($0.details, of: $0.owner) }
            let choices: [EventDomainEvent] = [
                .cancelled, .fraud, .fraud, .unhidden(shown), .unhidden(shown), updated(.picnic), updated(.concert),
                updated(.concert),
            ]
            let event = version == 1 ? .created(by: id < 3 ? .ann : .bob, .picnic) : choices.randomElement(using: &generator)
            let envelope = EventEnvelope.of(id, version: version, event ?? .cancelled)
            events.apply(envelope)
            return (position, envelope)
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
            guard let event = expected[EventID(rawValue: id)], event.isLive else { return "-" }
            return "\(event.version) \(event.details.name)"
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
}

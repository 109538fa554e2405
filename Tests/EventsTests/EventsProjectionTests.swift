import Encoding
import EventStore
import Foundation
import Postgres
import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `Folding the domain events of events` {
    @Test func `rows of different events are separate, and each kind is sorted by id`() {
        let changes = EventsProjection().fold([
            updated(9, version: 2, .picnic), created(12, by: .ann, .picnic), created(11, by: .bob, .concert),
            updated(12, version: 2, .concert), .of(7, version: 3, .cancelled),
            .of(8, version: 3, .unhidden(OwnedDetails(.picnic, of: .ann))),
        ])
        #expect(changes.created == [row(11, version: 1, owner: .bob, .concert), row(12, version: 2, owner: .ann, .concert)])
        #expect(
            changes.changed == [
                .init(id: EventID(rawValue: 7), version: 3, isCancelled: true, revisedAt: .startOfPicnic),
                .init(id: EventID(rawValue: 8), version: 3, isHidden: false, revisedAt: .startOfPicnic),
                .init(id: EventID(rawValue: 9), version: 2, details: .picnic, revisedAt: .startOfPicnic),
            ])
    }

    @Test func `streams of other categories give no event rows`() {
        var foreign = created(12, by: .ann, .picnic)
        foreign.stream = StreamName("user-12")
        #expect(EventsProjection().fold([foreign]) == EventsProjection.Changes())
    }
}

@Suite(.database) struct `Writing the rows of events` {
    /// Random histories of a few events, in the order of one log. Each begins with `EventCreated`; what follows may be anything,
    /// because an imported log may hold what the rules of this program refuse.
    private static func history(seed: UInt64) -> [EventEnvelope<EventDomainEvent>] {
        var generator = SeededGenerator(seed: seed)
        var versions: [Int64: Int32] = [:]
        return (0..<80).map { _ in
            let id = Int64.random(in: 1...8, using: &generator)
            let version = versions[id, default: 0] + 1
            versions[id] = version
            guard version > 1 else { return created(id, by: id % 2 == 0 ? .ann : .bob, .picnic) }
            switch Int.random(in: 0..<7, using: &generator) {
            case 0: return .of(id, version: version, .cancelled)
            case 1, 2: return .of(id, version: version, .fraud)
            case 3: return .of(id, version: version, .unhidden(nil))
            case 4: return updated(id, version: version, .picnic)
            case 5: return updated(id, version: version, .described)
            case _: return updated(id, version: version, .concert)
            }
        }
    }

    @Test func `one batch, single domain events and batches of any size write the same rows`() async throws {
        try await database.withClient(connections: 1) { client in
            for seed in 0..<12 as Range<UInt64> {
                let history = Self.history(seed: seed)
                let whole = try await Self.rows(of: history, in: [history.count], client)
                let expected = history.reduce(into: [EventID: Event]()) { $0.apply($1) }
                #expect(whole == expected.values.sorted { $0.id.rawValue < $1.id.rawValue }, "seed \(seed)")
                for sizes in [[1], [2, 5, 13], [7, 1, 40]] {
                    #expect(try await Self.rows(of: history, in: sizes, client) == whole, "seed \(seed), sizes \(sizes)")
                }
            }
        }
    }

    /// The rows after the history was written in batches of these sizes, in turn.
    private static func rows(
        of history: [EventEnvelope<EventDomainEvent>], in sizes: [Int], _ client: PostgresClient
    ) async throws -> [Event] {
        let schema = EventsProjection.schema
        var statements: [SQL] = ["DELETE FROM \(identifier: schema).events"]
        var (rest, turn) = (history[...], 0)
        while !rest.isEmpty {
            let batch = rest.prefix(sizes[turn % sizes.count])
            let projection = EventsProjection()
            statements += projection.writes(for: projection.fold(Array(batch)), in: schema).map(\.statement)
            rest = rest.dropFirst(batch.count)
            turn += 1
        }
        let written = statements
        _ = try await client.withTransaction { try await $0.run(written) }
        let ids = try await client.query("SELECT id FROM \(identifier: schema).events ORDER BY id").decode(Int64.self)
        let log = EventLog(client: client, projections: [], logger: .quiet)
        let module = EventsModule(log: log, database: client, render: TestNode.render, dependencies: .system)
        var events: [Event] = []
        for id in ids {
            if let event = try await module.event(EventID(rawValue: id)) { events.append(event) }
        }
        return events
    }
}

private func created(_ id: Int64, by owner: UserID, _ details: EventDetails) -> EventEnvelope<EventDomainEvent> {
    .of(id, version: 1, .created(by: owner, details))
}

private func updated(_ id: Int64, version: Int32, _ details: EventDetails) -> EventEnvelope<EventDomainEvent> {
    .of(id, version: version, .updated(details))
}

private func row(_ id: Int64, version: Int32, owner: UserID, _ details: EventDetails) -> EventRow {
    EventRow(id: EventID(rawValue: id), version: version, owner: owner, details: details, revisedAt: .startOfPicnic)
}

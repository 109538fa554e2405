import TestChance
import TestDatabase
import Testing
import Users

@testable import Events

@Suite struct `The ids of each user's events` {
    @Test func `pages lead from the newest to the oldest event of one user`() {
        var (generator, owned) = (SeededGenerator(seed: 41), OwnedEvents())
        var expected: [UserID: [EventID]] = [:]
        for id in (1...3_000 as ClosedRange<Int64>).map(EventID.init(rawValue:)).shuffled(using: &generator) {
            let owner = UserID(rawValue: .random(in: 1...40, using: &generator))
            owned.append(id, of: owner)
            expected[owner, default: []].append(id)
        }
        owned.sort()
        for owner in (0...48 as ClosedRange<Int64>).map(UserID.init(rawValue:)) {
            let own = (expected[owner] ?? []).sorted { $0.rawValue > $1.rawValue }
            #expect(owned.count(of: owner) == own.count)
            var (found, page): ([EventID], [EventID]) = ([], [])
            repeat {
                page = owned.page(of: owner, before: found.last, limit: 7)
                found += page
            } while page.count == 7
            #expect(found == own)
        }
    }
}

@Suite(.database) struct `The quota of a user's live events` {
    @Test func `a creation beyond the quota is refused on each node, and a cancelled or hidden event makes room`() async throws {
        let refusal = EventRejection.tooManyEvents(maximum: 2)
        try await TestNode.with(database, eventsPerUser: 2) { first in
            let ids = try await [first.create(), first.create()].map(\.id)
            await #expect(throws: refusal) { try await first.create() }
            try await first.create(by: .bob)
            try await first.cancel(ids[0])
            try await first.create()
            try await first.hide(ids[1])
            let last = try await first.create().position
            await #expect(throws: refusal) { try await first.create() }
            // This node counts what it loads.
            try await TestNode.with(database, eventsPerUser: 2) { second in
                await #expect(throws: refusal) { try await second.create() }
                #expect(try await second.own(since: last).count == 2)
                let position = try await second.create(by: .bob).position
                #expect(try await first.own(of: .bob, since: position).count == 2)
                await #expect(throws: refusal) { try await first.create(by: .bob) }
            }
        }
    }
}

import TestChance
import Testing
import Users

@testable import Events

/// A memory has more than one outer from some 180,000 events on; here each event has a leaf of its own, so that 5,000 are enough.
@Suite struct `A memory of several outerNodes` {
    private static func snapshot(of world: IndexWorld) -> EventIndex.Snapshot {
        var retiredBlocks = RetiredBlocks()
        var leaves: [Child<Leaf>] = []
        var cells = IDTable()
        for (id, held) in world.events {
            held.json.utf8CString.withUnsafeBytes { json in
                let row = Leaf.Row(
                    id: id, owner: held.owner, version: held.version, vector: UnitVector(held.coordinates),
                    json: UnsafeRawBufferPointer(rebasing: json.dropLast()))
                leaves.append(Child([row], low: row.key, &retiredBlocks))
                cells.apply([(id, row.key.cell)], &retiredBlocks)
            }
        }
        let root = Children<OuterNode>(of: leaves.sorted { $0.low < $1.low }, &retiredBlocks)
        return EventIndex.Snapshot(
            position: 0, count: leaves.count, blockBytes: retiredBlocks.bytes, root: root, cells: cells)
    }

    private static func expect(_ snapshot: EventIndex.Snapshot, toHold world: inout IndexWorld) throws {
        try #require(snapshot.count == world.events.count)
        for id in Int64(1)...6_000 {
            try #require(snapshot.event(EventID(rawValue: id))?.text == world.events[id]?.json, "\(id)")
        }
        for _ in 0..<10 {
            let search = NearbySearch(centre: world.place(), radius: world.radius(), limit: 400)
            let everyone = world.everyone(within: search.radius, of: search.centre)
            let page = snapshot.nearest(search)
            try #require(page.ids == everyone.prefix(400).map(\.id.rawValue), "\(search)")
            try #require(page.next == (everyone.count > 400 ? everyone[399] : nil), "\(search)")
        }
    }

    @Test(arguments: [IndexWorld.Spread.uniform, .clustered, .dateLine, .poles])
    func `is searched and changed as one of a single outer`(spread: IndexWorld.Spread) throws {
        var world = IndexWorld(spread, seed: 71)
        _ = world.batch(of: 12_000, ids: 6_000, removalPercent: 0)
        var snapshot = Self.snapshot(of: world)
        try #require(snapshot.root.count == 2)
        try Self.expect(snapshot, toHold: &world)
        // Few changes, then as many as there are events, by which leaves are joined; in the end most events go.
        for (round, removals) in [20, 0, 0, 97, 97, 97].enumerated() {
            let batch = world.batch(of: round == 0 ? 300 : 6_000, ids: 6_000, removalPercent: removals)
            let next = snapshot.next(batch, position: Int64(round + 1))
            try Self.expect(next, toHold: &world)
            snapshot = next
        }
        #expect(snapshot.count < 1_000)
        snapshot.close()
    }
}

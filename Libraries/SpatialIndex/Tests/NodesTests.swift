import TestChance
import Testing

@testable import SpatialIndex

/// An index has several outer nodes from some 180,000 points on. Here each point has its own leaf, so that 5,000 are enough.
@Suite struct `An index with several outer nodes` {
    private static func snapshot(of world: PointWorld) -> PointIndex.Snapshot {
        var blocks = RetiredBlocks()
        var leaves: [Child<Leaf>] = []
        var cells = IDTable()
        for (id, held) in world.points {
            Array((held.payload + held.words).utf8).withColumn { text in
                let end = held.payload.utf8.count
                let row = Leaf.Row(
                    id: id, tag: held.tag, note: held.note, version: held.version, location: held.location,
                    payload: text[0..<end], words: text[end..<text.count])
                leaves.append(Child([row], low: row.key, &blocks))
                cells.apply([(id, row.key.cell)], &blocks)
            }
        }
        let root = Children<OuterNode>(of: leaves.sorted { $0.low < $1.low }, &blocks)
        return PointIndex.Snapshot(
            position: 0, mark: nil, count: leaves.count, blockBytes: blocks.bytes, root: root, cells: cells,
            DeferredReclamation.Backlog())
    }

    private static func expect(_ snapshot: PointIndex.Snapshot, toHold world: inout PointWorld) throws {
        try #require(snapshot.count == world.points.count)
        let points = world.points
        try #require((Int64(1)...6_000).first { snapshot.entry($0)?.text != points[$0]?.payload } == nil)
        try #require((Int64(1)...6_000).first { snapshot.entry($0)?.note != points[$0]?.note } == nil)
        try `The bounds that nodes store`.expectBounds(in: snapshot)
        for _ in 0..<10 {
            let radius = world.radius()
            let search = NearestQuery(centre: world.place(), radius: radius, limit: 400)
            let everyone = world.everyone(within: radius, of: search.centre)
            let page = snapshot.search(search).result()
            try #require(page.ids == everyone.prefix(400).map(\.id), "\(search)")
            try #require(page.next == (everyone.count > 400 ? everyone[399] : nil), "\(search)")
            let box = BoxQuery(box: world.box(), window: world.window(), limit: 400)
            try #require(snapshot.search(box).result().ids == Array(world.ids(in: box.box, box.window).prefix(400)), "\(box)")
        }
        try world.expectWords(in: snapshot, searches: 2)
    }

    @Test(arguments: [PointWorld.Spread.uniform, .clustered, .dateLine, .poles])
    func `an index with several outer nodes finds the same points as a full scan, after every batch`(spread: PointWorld.Spread)
        throws
    {
        var world = PointWorld(spread, seed: 71)
        world.vocabulary = PointWorld.words
        _ = world.batch(of: 12_000, ids: 6_000, removalPercent: 0)
        var snapshot = Self.snapshot(of: world)
        try #require(snapshot.root.count == 2)
        try Self.expect(snapshot, toHold: &world)
        // Few changes; then as many as there are points, which joins leaves; then batches that remove most points.
        for (round, removals) in [20, 0, 0, 97, 97, 97].enumerated() {
            let batch = world.batch(of: round == 0 ? 300 : 6_000, ids: 6_000, removalPercent: removals)
            let next = snapshot.next(batch, position: Int64(round + 1), mark: nil)
            try Self.expect(next, toHold: &world)
            snapshot = next
        }
        #expect(snapshot.count < 1_000)
        snapshot.close()
    }
}

import TestChance
import Testing

@testable import SpatialIndex

@Suite struct `The bounds that nodes store` {
    /// The bounds of rows, computed one by one.
    private static func bounds(_ leaves: [Leaf]) -> Bounds {
        let bounds = leaves.flatMap { leaf in
            (0..<leaf.count).map { row in
                let location = leaf.location(row)
                return Bounds(
                    count: 1, box: Box(low: location.vector, high: location.vector),
                    degrees: DegreeBox(
                        south: location.latitude, west: location.longitude, north: location.latitude,
                        east: location.longitude),
                    starts: Limits(low: location.span.lowerBound, high: location.span.lowerBound),
                    ends: Limits(low: location.span.upperBound, high: location.span.upperBound))
            }
        }
        return bounds.dropFirst().reduce(into: bounds[0]) { $0.cover($1) }
    }

    static func expectBounds(in snapshot: PointIndex.Snapshot) throws {
        let root = snapshot.root
        for outer in 0..<root.count {
            let outerNode = root.node(outer)
            for inner in 0..<outerNode.count {
                let innerNode = outerNode.node(inner)
                for leaf in 0..<innerNode.count {
                    try #require(innerNode.bounds(leaf) == bounds([innerNode.node(leaf)]), "leaf \(leaf)")
                }
                try #require(outerNode.bounds(inner) == bounds(Array(innerNode.nodes)), "inner node \(inner)")
            }
            try #require(root.bounds(outer) == bounds(outerNode.nodes.flatMap { Array($0.nodes) }), "outer node \(outer)")
        }
        #expect(root.bounds.count == snapshot.count)
    }

    @Test(arguments: PointWorld.Spread.allCases)
    func `every node has the bounds of its points, after batches and bulk loads`(spread: PointWorld.Spread) throws {
        var world = PointWorld(spread, seed: 81)
        let index = PointIndex()
        for round in 0..<10 {
            // Growth splits nodes, and removals join them.
            let removals = round < 5 ? 10 : 85
            index.apply(world.batch(of: round == 0 ? 4_000 : 300, ids: 3_000, removalPercent: removals), position: Int64(round))
            try Self.expectBounds(in: index.snapshot)
            if round == 7 {
                var bulkLoad = world.bulkLoad
                index.fill(from: &bulkLoad, position: Int64(round))
                try Self.expectBounds(in: index.snapshot)
            }
        }
    }
}

extension Bounds {
    fileprivate mutating func cover(_ other: Self) {
        count += other.count
        box.cover(other.box)
        degrees.cover(other.degrees)
        starts.cover(other.starts)
        ends.cover(other.ends)
    }
}

extension Box {
    fileprivate mutating func cover(_ box: Box) {
        low = UnitVector(x: min(low.x, box.low.x), y: min(low.y, box.low.y), z: min(low.z, box.low.z))
        high = UnitVector(x: max(high.x, box.high.x), y: max(high.y, box.high.y), z: max(high.z, box.high.z))
    }
}

extension Limits {
    fileprivate mutating func cover(_ other: Self) {
        low = min(low, other.low)
        high = max(high, other.high)
    }
}

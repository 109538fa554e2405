internal import SpatialIndex

/// Changes of events in all cities; each moves its event to another place.
struct Writing {
    let index: PointIndex
    var world: ClusteredWorld
    let events: Int
    private var generator = SeededGenerator(seed: 3)

    init(index: PointIndex, world: ClusteredWorld, events: Int) {
        self.index = index
        self.world = world
        self.events = events
    }

    mutating func measure(changes: Int, batchSize: Int, removalPercent: Int = 0) {
        var seconds = 0.0
        for position in index.snapshot.position + 1...index.snapshot.position + Int64(changes / batchSize) {
            var batch = PointIndex.Batch()
            for _ in 0..<batchSize {
                let id = Int64.random(in: 1...Int64(events), using: &generator)
                if generator.happens(inPercent: removalPercent) {
                    batch.remove(id)
                } else {
                    world.put(id, version: Int32(truncatingIfNeeded: position), in: &batch)
                }
            }
            let clock = ThreadClock()
            index.apply(batch, position: position)
            seconds += clock.seconds
        }
        let perSecond = (Double(changes) / seconds).rounded(0)
        print(
            "changes, \(batchSize) at a time, \(removalPercent) % of them removals: \(perSecond) a second, \(index.snapshot.count) events"
        )
    }
}

internal import Events
internal import TestChance

/// Changes of events all over the cities, each of which moves to some place.
struct Writing {
    let memory: EventMemory
    var world: ClusteredWorld
    let events: Int
    private var generator = SeededGenerator(seed: 3)

    init(memory: EventMemory, world: ClusteredWorld, events: Int) {
        self.memory = memory
        self.world = world
        self.events = events
    }

    mutating func measure(changes: Int, batchSize: Int, removalPercent: Int = 0) {
        var seconds = 0.0
        for position in memory.snapshot.position + 1...memory.snapshot.position + Int64(changes / batchSize) {
            var batch = EventMemory.Batch()
            for _ in 0..<batchSize {
                let id = EventID(rawValue: Int64.random(in: 1...Int64(events), using: &generator))
                if generator.happens(inPercent: removalPercent) {
                    batch.remove(id)
                } else {
                    world.put(id, version: Int32(truncatingIfNeeded: position), in: &batch)
                }
            }
            let clock = ThreadClock()
            memory.apply(batch, position: position)
            seconds += clock.seconds
        }
        let perSecond = (Double(changes) / seconds).rounded(0)
        print(
            "changes, \(batchSize) at a time, \(removalPercent) % of them removals: \(perSecond) a second, \(memory.snapshot.count) events"
        )
    }
}

internal import Events
internal import Foundation
internal import SpatialIndex
internal import Synchronization

/// Searches around places of events.
struct Reading: Sendable {
    private static let changesPerSecond = 2_000
    private static let batchesPerSecond = 200

    let index: PointIndex
    let centres: [Coordinates]
    let events: Int
    let seconds: Double

    func measure() {
        print("searches a second of one processor:")
        for (radius, limit) in [
            (1.0, events), (5, events), (25, events), (1, 1_000), (5, 1_000), (25, 1_000), (5, 100), (25, 100), (1_000, 100),
            (50_000, 100),
        ] {
            let (perSecond, found) = searches(radius: radius, limit: limit)
            let name = limit == events ? "all rows" : "nearest \(limit)"
            print("  \(Int(radius)) km, \(name): \(perSecond.rounded(0)), \(found.rounded(0)) events found on average")
        }
        print("  by id: \(lookups().rounded(0))")
    }

    /// The same searches alone, beside a writer, and beside a writer of another index. The last one shows the machine's share of the
    /// difference: caches, memory and processors. The three alternate, because the speed of a machine varies from minute to minute.
    func measureBesideWriter(world: ClusteredWorld, other: PointIndex) {
        print("nearest 100 within 5 km, µs by the wall clock, and of processor time:")
        for round in 1...3 {
            print("  alone: \(latencies())")
            for (written, name) in [(index, "beside a writer"), (other, "beside a writer of another index")] {
                let writer = Writer()
                let thread = Thread { [self] in write(world, round: round, into: written, writer) }
                thread.start()
                let beside = latencies()
                writer.isStopped.withLock { $0 = true }
                while !thread.isFinished { usleep(1_000) }
                let changes = (Double(writer.written.withLock { $0 }) / seconds).rounded(0)
                print("  \(name), \(changes) changes a second: \(beside)")
            }
        }
    }

    private func searches(radius: Double, limit: Int) -> (perSecond: Double, found: Double) {
        var (count, found) = (0, 0)
        let clock = ThreadClock()
        while clock.seconds < seconds {
            for _ in 0..<20 {
                let query = NearestQuery(around: centres[count % centres.count], kilometres: radius, limit: limit)
                found += index.snapshot.search(query).result().count
                count += 1
            }
        }
        return (Double(count) / clock.seconds, Double(found) / Double(count))
    }

    private func lookups() -> Double {
        var generator = SeededGenerator(seed: 2)
        var (count, bytes) = (0, 0)
        let clock = ThreadClock()
        while clock.seconds < seconds {
            for _ in 0..<100 {
                let id = Int64.random(in: 1...Int64(events), using: &generator)
                bytes += index.snapshot.entry(id)?.withPayload { $0.byteCount } ?? 0
                count += 1
            }
        }
        precondition(bytes > 0)
        return Double(count) / clock.seconds
    }

    /// One search every 100 µs, like the load of a server below its capacity. Measured by the wall clock and by the thread's clock,
    /// which excludes the time of other threads on the processor.
    private func latencies() -> String {
        var (elapsed, used): ([Double], [Double]) = ([], [])
        let clock = ContinuousClock()
        let start = clock.now
        while clock.now - start < .seconds(seconds) {
            let query = NearestQuery(around: centres[elapsed.count % centres.count], kilometres: 5, limit: 100)
            let (began, thread) = (clock.now, ThreadClock())
            let found = index.snapshot.search(query).result().count
            used.append(thread.seconds * 1e6)
            elapsed.append((clock.now - began) / .microseconds(1))
            precondition(found >= 0)
            while clock.now - began < .microseconds(100) {}
        }
        return "\(parts(elapsed)); \(parts(used))"
    }

    private func parts(_ microseconds: [Double]) -> String {
        let sorted = microseconds.sorted()
        let parts = [0.5, 0.99, 0.999].map { sorted[Int(Double(sorted.count - 1) * $0)].rounded(0) }
        return "p50 \(parts[0]), p99 \(parts[1]), p99.9 \(parts[2])"
    }

    private func write(_ world: ClusteredWorld, round: Int, into index: PointIndex, _ writer: Writer) {
        var world = world
        var generator = SeededGenerator(seed: UInt64(3 + round))
        var position = index.snapshot.position
        let clock = ContinuousClock()
        let start = clock.now
        while !writer.isStopped.withLock({ $0 }) {
            var batch = PointIndex.Batch()
            let size = Self.changesPerSecond / Self.batchesPerSecond
            for _ in 0..<size {
                world.put(Int64.random(in: 1...Int64(events), using: &generator), version: 1, in: &batch)
            }
            position += 1
            index.apply(batch, position: position)
            writer.written.withLock { $0 += size }
            let due = start + .seconds(1) * Double(writer.written.withLock { $0 }) / Double(Self.changesPerSecond)
            while clock.now < due { usleep(500) }
        }
    }
}

extension NearestQuery {
    /// The query of the API's search around a place.
    init(around centre: Coordinates, kilometres: Double, window: ClosedRange<Int64>? = nil, limit: Int) {
        // In kilometres: the mean radius of the Earth.
        let radius = 6371.0088
        self.init(
            centre: UnitVector(latitude: centre.lat, longitude: centre.lon),
            squaredChord: UnitVector.squaredChord(angle: kilometres / radius), window: window, limit: limit)
    }
}

/// Signals between the writing thread and the measuring thread.
private final class Writer: Sendable {
    let written = Mutex(0)
    let isStopped = Mutex(false)
}

/// The processor time of the thread, without the time of other programs.
struct ThreadClock {
    private let start = now

    var seconds: Double { Self.now - start }

    private static var now: Double {
        var time = timespec()
        unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}

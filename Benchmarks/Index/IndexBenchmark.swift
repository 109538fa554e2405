internal import ArgumentParser
internal import Events
internal import Foundation
internal import HTTP
internal import SpatialIndex

/// Measures the in-memory index by itself: no network, no database, one thread that reads.
@main
struct IndexBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "IndexBenchmark",
        abstract: "Measures searches in the in-memory index, beside a writer and without, and the bytes of an event.",
        discussion: "Run it in the root of the project, where it finds the cities of the demo."
    )

    @Option(help: "Number of events.")
    var events = 1_000_000

    @Option(help: "Seconds for each measurement.")
    var seconds = 2.0

    @Option(help: "Changes in the soak.")
    var changes = 1_000_000

    @Flag(help: "Give each event a category and a time zone.")
    var texts = false

    @Flag(help: "Events have words, and searches with words are measured, too.")
    var words = false

    func run() throws {
        var world = try ClusteredWorld(seed: 1, hasTexts: texts)
        world.hasWords = words
        render(&world)
        let index = PointIndex()
        let filled = fill(index, from: &world)
        print(
            "\(events) events, \(filled.jsonBytes / events) bytes of JSON and \(filled.wordBytes / events) of words each, around \(world.cities) cities"
        )
        print("filled in \(filled.seconds.rounded(2)) s: \((Double(events) / filled.seconds).rounded(0)) events a second")
        report(index, jsonBytes: filled.jsonBytes)
        let reading = Reading(index: index, centres: (0..<10_000).map { _ in world.place() }, events: events, seconds: seconds)
        reading.measure()
        let maps = Maps(index: index, centres: reading.centres, seconds: seconds)
        maps.measure()
        if words { maps.measureWords() }
        do {
            let other = PointIndex()
            _ = fill(other, from: &world)
            reading.measureBesideWriter(world: world, other: other)
        }
        var writing = Writing(index: index, world: world, events: events)
        for batchSize in [1, 50] { writing.measure(changes: changes / 4, batchSize: batchSize) }
        for part in 1...4 {
            writing.measure(changes: changes / 4, batchSize: 50, removalPercent: 10)
            let snapshot = index.snapshot
            let each = snapshot.bytes / snapshot.count
            print("  soak, part \(part) of 4: \(each) bytes an event with JSON, the process has \(residentMegabytes) MB")
        }
    }

    /// The same events several times over, so that the measurement does not contain the creation of events.
    private func render(_ world: inout ClusteredWorld) {
        let (some, repetitions) = (min(events, 100_000), 10)
        let rendered = (1...some).map { world.event(Int64($0)) }
        var json: [UInt8] = []
        let clock = ThreadClock()
        for _ in 0..<repetitions {
            json.removeAll(keepingCapacity: true)
            for event in rendered { event.writeJSON(into: &json) }
        }
        print("rendered: \((Double(some * repetitions) / clock.seconds).rounded(0)) events a second of one processor")
    }

    private func fill(_ index: PointIndex, from world: inout ClusteredWorld) -> (
        seconds: Double, jsonBytes: Int, wordBytes: Int
    ) {
        var (batch, bulkLoad) = (PointIndex.Batch(), PointIndex.BulkLoad())
        var (jsonBytes, wordBytes, seconds) = (0, 0, 0.0)
        for start in stride(from: 1, through: events, by: 1_000) {
            let some = (start..<min(start + 1_000, events + 1)).map { world.gathering(Int64($0)) }
            let clock = ThreadClock()
            batch.removeAll()
            for event in some {
                (jsonBytes, wordBytes) = (jsonBytes + event.json.count, wordBytes + event.words.count)
                batch.put(
                    event.id, tag: event.owner, version: 1, at: event.location, payload: event.json, words: event.words)
            }
            bulkLoad.put(batch)
            seconds += clock.seconds
        }
        // It runs on all cores.
        let start = ContinuousClock.now
        index.fill(from: &bulkLoad, position: 0)
        return (seconds + (ContinuousClock.now - start) / .seconds(1), jsonBytes, wordBytes)
    }

    private func report(_ index: PointIndex, jsonBytes: Int) {
        let snapshot = index.snapshot
        let beside = Double(snapshot.bytes - jsonBytes) / Double(snapshot.count)
        print(
            "\(snapshot.bytes / 1_000_000) MB held, \(beside.rounded(1)) bytes an event beside its JSON; the process has \(residentMegabytes) MB"
        )
    }

    private var residentMegabytes: Int {
        let fields = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8))?.split(separator: " ") ?? []
        return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) / 1_000_000 : 0
    }
}

extension Double {
    func rounded(_ decimals: Int) -> String { String(format: "%.\(decimals)f", self) }
}

import Encoding
import Events
import Testing

@testable import App

@Suite struct `The gatherings of the demo` {
    /// 2026-11-23T02:37:11.123Z
    private static let start = Timestamp(milliseconds: 1_795_401_431_123)
    private static let millisecondsPerDay: Int64 = 86_400_000

    private static func gatherings(seed: UInt64 = 1, count: Int = 2_000) -> [DemoWorld.Gathering] {
        var world = DemoWorld(seed: seed, start: start)
        return (0..<count).map { _ in world.gathering() }
    }

    @Test func `the same seed and start give the same gatherings, another seed gives others`() {
        func texts(_ seed: UInt64) -> [String] { Self.gatherings(seed: seed, count: 100).map { "\($0)" } }
        #expect(texts(1) == texts(1))
        #expect(texts(1) != texts(2))
    }

    @Test func `gatherings begin at hours of their kind, by the sun of their city`() {
        let cities = Dictionary(grouping: City.all, by: \.name)
        for gathering in Self.gatherings() {
            let hours = DemoWorld.kinds.first { $0.name == gathering.details.name }?.hours ?? 0..<0
            // Starts are quarters of an hour, and the sun is not.
            let room = Double(hours.lowerBound) - 0.25...Double(hours.upperBound)
            let utc = Double(gathering.details.startedAt.milliseconds % Self.millisecondsPerDay) / 3_600_000
            let city = gathering.details.address?.split(separator: ",", maxSplits: 1).last?.dropFirst() ?? ""
            // Some cities have the same name.
            let local = (cities[String(city)] ?? []).map { (utc + $0.lon / 15 + 24).truncatingRemainder(dividingBy: 24) }
            #expect(local.contains(where: room.contains), "\(gathering): \(local)")
        }
    }
}

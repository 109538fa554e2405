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
        func details(_ seed: UInt64) -> [EventDetails] { Self.gatherings(seed: seed, count: 100).map(\.details) }
        #expect(details(1) == details(1))
        #expect(details(1) != details(2))
    }

    @Test func `the API accepts the texts of gatherings, of which two in five have a description`() throws {
        let gatherings = Self.gatherings()
        for gathering in gatherings {
            var sent: JSONObject = ["name": "Tea", "lat": JSON(1), "lon": JSON(2), "started_at": "2030-01-01T00:00:00Z"]
            for (name, text) in gathering.details.texts { sent[name.rawValue] = .string(text) }
            #expect(try EventDetails(.object(sent)).texts == gathering.details.texts)
        }
        func share(_ name: EventText) -> Double {
            Double(gatherings.count { $0.details.texts[name] != nil }) / Double(gatherings.count)
        }
        #expect(share(.category) == 1 && (0.3...0.5).contains(share(.timeZone)))
        #expect((0.35...0.45).contains(share(.description)) && (0.15...0.25).contains(share(.link)))
        #expect(City.all.first { $0.name == "Berlin" }?.timeZone == "Europe/Berlin")
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

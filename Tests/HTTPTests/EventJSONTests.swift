import Encoding
import Events
import HTTP
import TestChance
import Testing
import Users

@Suite struct `Writing an event as JSON` {
    @Test func `an event is written as these bytes`() {
        #expect(
            text(.streetFood)
                == #"{"address":"3000 Mission Street","ended_at":null,"id":12,"lat":37.7487,"lon":-122.4182,"#
                + #""name":"Street \"Food\"\n🌮","started_at":"2030-09-14T00:00:00.000Z","owner":{"id":7}}"#)
    }

    @Test func `the written bytes equal those of the JSON tree`() throws {
        var events = EventsByChance()
        for _ in 0..<20_000 {
            let event = events.next()
            try #require(bytes(event) == event.json.utf8, "\(text(event))")
        }
    }

    private func bytes(_ event: Event) -> [UInt8] {
        // Not empty, because writing must keep the bytes before it.
        var bytes = Array("before".utf8)
        event.writeJSON(into: &bytes)
        return Array(bytes.dropFirst(6))
    }

    private func text(_ event: Event) -> String { String(decoding: bytes(event), as: UTF8.self) }
}

extension Event {
    fileprivate static let streetFood = {
        var details = EventDetails(
            name: "Street \"Food\"\n🌮", coordinates: Coordinates(lat: 37.7487, lon: -122.4182),
            startedAt: Timestamp(milliseconds: 1_915_574_400_000))
        details.address = "3000 Mission Street"
        return Event(id: EventID(rawValue: 12), owner: UserID(rawValue: 7), version: 3, details: details)
    }()

    /// The expected JSON: exactly these keys in this order, with nulls.
    fileprivate var json: JSON {
        [
            "address": JSON(details.address),
            "ended_at": JSON(details.endedAt?.description),
            "id": JSON(id.rawValue),
            "lat": JSON(details.coordinates.lat),
            "lon": JSON(details.coordinates.lon),
            "name": .string(details.name),
            "started_at": .string(details.startedAt.description),
            "owner": ["id": JSON(owner.rawValue)],
        ]
    }
}

/// Events of all kinds: escapes, control characters, emoji, empty texts, tiny and extreme coordinates, years from 0001 to 9999.
private struct EventsByChance {
    private var generator = SeededGenerator(seed: 5)

    mutating func next() -> Event {
        var details = EventDetails(
            name: text(), coordinates: Coordinates(lat: degrees(90), lon: degrees(180)), startedAt: time())
        if !generator.happens(inPercent: 30) { details.address = text() }
        if !generator.happens(inPercent: 30) { details.endedAt = time() }
        return Event(id: EventID(rawValue: number()), owner: UserID(rawValue: number()), version: 1, details: details)
    }

    /// Texts of all lengths.
    private mutating func number() -> Int64 {
        let number = Int64(bitPattern: generator.next() >> UInt64.random(in: 0..<64, using: &generator))
        return [.min, .max, 0].randomElement(using: &generator).flatMap { generator.happens(inPercent: 5) ? $0 : nil } ?? number
    }

    private mutating func text() -> String {
        let pieces = [
            "a", "Tea", " ", "\"", "\\", "/", "\n", "\r\n", "\t", "\u{0}", "\u{1F}", "\u{7F}", "é", "e\u{301}", "\u{2028}", "🌮",
            "👩‍👩‍👧", "\u{FEFF}", "\u{10FFFF}", "</script>", "\\u0041",
        ]
        return (0..<Int.random(in: 0...12, using: &generator)).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
    }

    private mutating func degrees(_ most: Double) -> Double {
        let edges: [Double] = [
            0, -0.0, most, -most, .leastNonzeroMagnitude, -.leastNonzeroMagnitude, 1e-7, 0.1 + 0.2, 1, most.nextDown,
        ]
        return switch Int.random(in: 0..<3, using: &generator) {
        case 0: edges.randomElement(using: &generator) ?? 0
        case 1: (Double.random(in: -most...most, using: &generator) * 1e6).rounded() / 1e6
        case _: Double.random(in: -most...most, using: &generator)
        }
    }

    private mutating func time() -> Timestamp {
        let (first, last) = (-62_135_596_800_000, 253_402_300_799_999)
        let edges: [Int64] = [Int64(first), Int64(last), 0, -1, 951_782_400_000]
        return Timestamp(
            milliseconds: generator.happens(inPercent: 10)
                ? edges.randomElement(using: &generator) ?? 0 : Int64(Int.random(in: first...last, using: &generator)))
    }
}

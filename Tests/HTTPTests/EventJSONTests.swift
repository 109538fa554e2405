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

    /// The expected JSON: exactly these keys in this order, with nulls, and then the texts that there are.
    fileprivate var json: JSON {
        let members: JSONObject = [
            "address": JSON(details.address),
            "ended_at": JSON(details.endedAt?.description),
            "id": JSON(id.rawValue),
            "lat": JSON(details.coordinates.lat),
            "lon": JSON(details.coordinates.lon),
            "name": .string(details.name),
            "started_at": .string(details.startedAt.description),
            "owner": ["id": JSON(owner.rawValue)],
        ]
        let texts = EventText.allCases.compactMap { name in
            details.texts[name].map { JSONObject.Member(name: name.rawValue, value: .string($0)) }
        }
        return .object(JSONObject(members: members.members + texts))
    }
}

/// Events of all kinds: escapes, control characters, emoji, coordinates of any bits, times of any year.
private struct EventsByChance {
    private var mutations = Mutations(seed: 5)

    mutating func next() -> Event {
        var details = EventDetails(
            name: text(), coordinates: Coordinates(lat: number(), lon: number()),
            startedAt: time())
        if mutations.number(UInt8.self) > 80 { details.address = text() }
        if mutations.number(UInt8.self) > 80 { details.endedAt = time() }
        for name in EventText.allCases where mutations.number(UInt8.self) > 127 { details.texts[name] = text() }
        return Event(
            id: EventID(rawValue: mutations.number(Int64.self)), owner: UserID(rawValue: mutations.number(Int64.self)),
            version: 1, details: details)
    }

    private mutating func text() -> String {
        mutations.text(of: ["", "Tea", "</script>\u{2028}\u{1F}\u{7F}e\u{301}🌮👩‍👩‍👧\u{FEFF}\u{10FFFF}\r\n\t"])
    }

    private mutating func time() -> Timestamp {
        Timestamp(milliseconds: mutations.number(Int64.self) % 253_402_300_800_000)
    }

    /// A place as phones send it, or any bits.
    private mutating func number() -> Double {
        if mutations.number(UInt8.self) > 127 { return Double(mutations.number(Int32.self) % 1_800_000) / 10_000 }
        let value = Double(bitPattern: mutations.number(UInt64.self))
        return value.isFinite ? value : -0.0
    }
}

import Encoding
import Foundation
import Testing

@testable import EventStore

@Suite struct `Folding a stream into a state` {
    /// A hut: format 1 of `Built` has its name under `label`; the roof is optional.
    private enum Hut: DomainEvent {
        case said(type: String, JSON)

        static let category = "hut"
        static let storedTypes = [
            StoredType(
                "Built",
                upcasters: [{ EventContent(["name": $0.facts["label"] ?? .null, "owner": $0.facts["owner"] ?? .null]) }]),
            StoredType("Changed"),
        ]

        static let personal = PersonalMembers.none
        init(type: String, content: EventContent) throws { self = .said(type: type, content.facts) }
        var stored: (type: String, data: JSON) {
            switch self {
            case .said(let type, let data): (type, data)
            }
        }
    }

    private static let recorded = [
        recorded(1, "Built", format: 1, #"{"label":"Alm","owner":7}"#, at: 100),
        recorded(2, "Changed", #"{"name":"Hut","roof":"tin"}"#, at: 300),
        // Recorded by a server with a clock that is behind.
        recorded(3, "Changed", #"{"name":"Hut","roof":null}"#, at: 200),
    ]

    private static func recorded(
        _ version: Int32, _ type: String, format: Int16 = 1, _ data: String, at milliseconds: Int64
    ) -> RecordedEvent {
        RecordedEvent(
            position: Int64(version) * 10,
            envelope: EventEnvelope(
                id: UUID(), stream: StreamName("hut-1"), version: version, recordedAt: Timestamp(milliseconds: milliseconds),
                metadata: Metadata(requestID: "r", actor: nil, traceID: nil),
                event: StoredEvent(type: type, format: format, facts: Array(data.utf8))))
    }

    private func state(_ recorded: [RecordedEvent]) throws -> JSONObject { try recorded.state(decodedBy: [Hut.self]) }

    @Test func `the state has the last value of every field, in the current format`() throws {
        #expect(JSON.object(try state(Self.recorded)).text == #"{"name":"Hut","owner":7,"roof":null}"#)
    }

    @Test func `the events of a stream can be cut at a version and at a time`() throws {
        #expect(Self.recorded.upTo(version: 2)?.count == 2)
        #expect(Self.recorded.upTo(version: 0) == nil)
        #expect(Self.recorded.upTo(version: 4) == nil)
        #expect([RecordedEvent]().upTo(version: 1) == nil)
        #expect(Self.recorded.upTo(time: Timestamp(milliseconds: 99)).isEmpty)
        #expect(Self.recorded.upTo(time: Timestamp(milliseconds: 100)).count == 1)
        #expect(Self.recorded.upTo(time: Timestamp(milliseconds: 250)).count == 3)
    }

    @Test func `the changes between two states are the fields that differ`() throws {
        let (first, last) = (try state(Array(Self.recorded.prefix(1))), try state(Self.recorded))
        let forth = first.changes(to: last)
        #expect(forth.map(\.name) == ["name", "roof"])
        #expect(forth.map(\.old) == ["Alm", nil])
        #expect(forth.map(\.new) == ["Hut", .null])
        let back = last.changes(to: first)
        #expect(back.map(\.name) == ["name", "roof"])
        #expect(back.map(\.new) == ["Alm", nil])
        #expect(last.changes(to: last).isEmpty)
    }

    @Test func `a stream with an unreadable event has no state`() {
        #expect(throws: FormatError.self) { try state([Self.recorded(1, "Moved", "{}", at: 1)]) }
        #expect(throws: FormatError.self) { try Self.recorded.state(decodedBy: []) }
    }
}

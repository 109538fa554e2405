import Encoding
import TestDatabase
import Testing

@testable import EventStore

@Suite struct `Folding a stream into a state` {
    private static let recorded = [
        recorded(1, "TeaBrewed", #"{"minutes":3}"#, at: 100),
        recorded(2, "TeaBrewed", format: 3, #"{"seconds":200,"sort":"Assam"}"#, at: 300),
        // Recorded by a server with a clock that is behind.
        recorded(3, "TeaBrewed", format: 3, #"{"seconds":210,"sort":null}"#, at: 200),
    ]

    private static func recorded(
        _ version: Int32, _ type: String, format: Int16 = 1, _ data: String, at milliseconds: Int64
    ) -> RecordedEvent {
        let stored = StoredEvent(type: type, format: format, facts: Array(data.utf8))
        return RecordedEvent(
            position: Int64(version) * 10, envelope: .of(stored, in: "tea-1", version: version, at: milliseconds))
    }

    private func state(_ recorded: [RecordedEvent]) throws -> JSONObject {
        try recorded.state(decodedBy: [TeaDomainEvent.self])
    }

    @Test func `the state has the last value of every field, in the current format`() throws {
        #expect(JSON.object(try state(Self.recorded)).text == #"{"seconds":210,"sort":null}"#)
        #expect(JSON.object(try state(Array(Self.recorded.prefix(1)))).text == #"{"seconds":180,"sort":null}"#)
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
        // Without fields.
        let none = try state([Self.recorded(1, "TeaDrunk", "{}", at: 1)])
        let (first, last) = (try state(Array(Self.recorded.prefix(2))), try state(Self.recorded))
        let forth = first.changes(to: last)
        #expect(forth.map(\.name) == ["seconds", "sort"])
        #expect(forth.map(\.old) == [JSON(200), "Assam"])
        #expect(forth.map(\.new) == [JSON(210), .null])
        #expect(none.changes(to: last).map(\.old) == [nil, nil])
        #expect(last.changes(to: none).map(\.new) == [nil, nil])
        #expect(last.changes(to: last).isEmpty)
    }

    @Test func `a stream with an unreadable event has no state`() {
        #expect(throws: FormatError.self) { try state([Self.recorded(1, "TeaSpilt", "{}", at: 1)]) }
        #expect(throws: FormatError.self) { try Self.recorded.state(decodedBy: []) }
    }
}

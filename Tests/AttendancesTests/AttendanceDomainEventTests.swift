import Encoding
import EventStore
import Events
import Testing
import Users

@testable import Attendances

@Suite struct `The stored form of an attendance's domain events` {
    private let event = AttendanceDomainEvent.added(AttendanceAdded(event: EventID(rawValue: 12), user: UserID(rawValue: 1)))
    private let text = #"{"event":12,"user":1}"#

    @Test func `is these bytes, both ways`() throws {
        #expect(event.stored.type == "AttendanceAdded")
        #expect(event.stored.data.text == text)
        #expect(try AttendanceDomainEvent.decode(type: "AttendanceAdded", format: 1, data: Array(text.utf8)) == event)
    }

    @Test func `has one name, of format 1`() {
        #expect(AttendanceDomainEvent.category == "attendance")
        #expect(AttendanceDomainEvent.storedTypes.map(\.name) == ["AttendanceAdded"])
        #expect(AttendanceDomainEvent.storedTypes.map(\.currentFormat) == [1])
    }

    @Test func `is not read in a newer format`() {
        #expect(throws: FormatError("AttendanceAdded has formats 1 to 1, not 2: written by a newer humon")) {
            try AttendanceDomainEvent.decode(type: "AttendanceAdded", format: 2, data: Array(text.utf8))
        }
    }

    @Test func `is not read under an unknown name`() {
        #expect(throws: FormatError("no stored type AttendanceRemoved in category attendance")) {
            try AttendanceDomainEvent.decode(type: "AttendanceRemoved", format: 1, data: Array(text.utf8))
        }
    }

    @Test(arguments: [
        (#"{"user":1}"#, "event"), (#"{"event":"12","user":1}"#, "event"), (#"{"event":12}"#, "user"),
        (#"{"event":12,"user":null}"#, "user"), (#"{"event":12,"user":1.5}"#, "user"), (#"{"event":0,"user":1}"#, "event"),
        (#"{"event":12,"user":-1}"#, "user"), (#"{"event":9223372036854775808,"user":1}"#, "event"),
    ])
    func `is refused with the field that is not usable, never its value`(text: String, field: String) {
        #expect(throws: FormatError("AttendanceAdded, format 1: no usable \(field) in the stored data")) {
            try AttendanceDomainEvent.decode(type: "AttendanceAdded", format: 1, data: Array(text.utf8))
        }
    }
}

@Suite struct `The stream of an attendance` {
    @Test(
        arguments: [
            ("attendance-12-2", 1, "the stream is not named after event and user"),
            ("attendance-012-1", 1, "the stream is not named after event and user"),
            ("attendance-12-1", 2, "an attendance is added at version 1 only"),
        ] as [(String, Int32, String)])
    func `has the one attendance that it is named after`(stream: String, version: Int32, reason: String) {
        let stored = StoredEvent(type: "AttendanceAdded", format: 1, data: Array(#"{"event":12,"user":1}"#.utf8))
        #expect(throws: FormatError("AttendanceAdded, format 1: \(reason)")) {
            try AttendanceDomainEvent.decode(stored, in: StreamName(stream), version: version)
        }
        #expect(throws: Never.self) { try AttendanceDomainEvent.decode(stored, in: StreamName("attendance-12-1"), version: 1) }
    }

    @Test func `has the number of the event, then that of the user`() {
        let added = AttendanceAdded(event: EventID(rawValue: 12), user: UserID(rawValue: 1))
        #expect(added.stream.description == "attendance-12-1")
        #expect(added.stream.category == "attendance")
    }
}

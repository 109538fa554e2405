import Encoding
import EventStore
import Events
import Testing
import Users

@testable import Attendances

@Suite struct `Storing the domain events of attendances` {
    private let event = AttendanceDomainEvent.added(AttendanceAdded(event: EventID(rawValue: 12), user: UserID(rawValue: 1)))
    private let text = #"{"event":12,"user":1}"#

    @Test func `AttendanceAdded is stored as these bytes and read from them`() throws {
        #expect(event.stored.type == "AttendanceAdded")
        #expect(event.stored.data.text == text)
        #expect(try AttendanceDomainEvent.decode(type: "AttendanceAdded", format: 1, data: Array(text.utf8)) == event)
    }

    @Test func `the domain events of attendances have one stored name, in format 1`() {
        #expect(AttendanceDomainEvent.category == "attendance")
        #expect(AttendanceDomainEvent.storedTypes.map(\.name) == ["AttendanceAdded"])
        #expect(AttendanceDomainEvent.storedTypes.map(\.currentFormat) == [1])
    }

    @Test func `an attendance event in a newer format is refused`() {
        #expect(throws: FormatError("AttendanceAdded has formats 1 to 1, not 2: written by a newer humon")) {
            try AttendanceDomainEvent.decode(type: "AttendanceAdded", format: 2, data: Array(text.utf8))
        }
    }

    @Test func `an attendance event under an unknown name is refused`() {
        #expect(throws: FormatError("no stored type AttendanceRemoved in category attendance")) {
            try AttendanceDomainEvent.decode(type: "AttendanceRemoved", format: 1, data: Array(text.utf8))
        }
    }

    @Test(arguments: [
        (#"{"user":1}"#, "event"), (#"{"event":"12","user":1}"#, "event"), (#"{"event":12}"#, "user"),
        (#"{"event":12,"user":null}"#, "user"), (#"{"event":12,"user":1.5}"#, "user"), (#"{"event":0,"user":1}"#, "event"),
        (#"{"event":12,"user":-1}"#, "user"), (#"{"event":9223372036854775808,"user":1}"#, "event"),
    ])
    func `an unusable field of an attendance event is named in the error, without its value`(text: String, field: String) {
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
    func `an attendance event in a wrong stream or at a wrong version is refused`(stream: String, version: Int32, reason: String)
    {
        let stored = StoredEvent(type: "AttendanceAdded", format: 1, data: Array(#"{"event":12,"user":1}"#.utf8))
        #expect(throws: FormatError("AttendanceAdded, format 1: \(reason)")) {
            try AttendanceDomainEvent.decode(stored, in: StreamName(stream), version: version)
        }
        #expect(throws: Never.self) { try AttendanceDomainEvent.decode(stored, in: StreamName("attendance-12-1"), version: 1) }
    }

    @Test func `the key of an attendance stream is the event number, then the user number`() {
        let added = AttendanceAdded(event: EventID(rawValue: 12), user: UserID(rawValue: 1))
        #expect(added.stream.description == "attendance-12-1")
        #expect(added.stream.category == "attendance")
    }
}

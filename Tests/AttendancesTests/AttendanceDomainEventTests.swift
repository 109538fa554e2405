import Encoding
import EventStore
import Events
import Foundation
import Testing
import Users

@testable import Attendances

@Suite struct `Storing the domain events of attendances` {
    @Test func `each domain event is stored as these bytes and read from them, an erasure at any later version`() throws {
        let (event, user) = (EventID(rawValue: 12), UserID(rawValue: 1))
        let erased = AttendanceDomainEvent.erased(AttendanceErased(event: event, user: user))
        let events: [(AttendanceDomainEvent, String)] = [
            (.added(AttendanceAdded(event: event, user: user)), "AttendanceAdded"),
            (.removed(AttendanceRemoved(event: event, user: user)), "AttendanceRemoved"), (erased, "AttendanceErased"),
        ]
        let text = #"{"event":12,"user":1}"#
        for (domainEvent, type) in events {
            #expect((domainEvent.stored.type, domainEvent.stored.data.text) == (type, text))
            let stored = StoredEvent(type: type, format: 1, facts: Array(text.utf8))
            #expect(try AttendanceDomainEvent.decode(stored) == domainEvent)
        }
        for version: Int32 in [2, 3] { try erased.check(in: StreamName("attendance-12-1"), version: version) }
    }

    @Test func `the domain events of attendances have three stored names, all in format 1`() {
        #expect(AttendanceDomainEvent.category == "attendance")
        #expect(AttendanceDomainEvent.storedTypes.map(\.name) == ["AttendanceAdded", "AttendanceRemoved", "AttendanceErased"])
        #expect(AttendanceDomainEvent.storedTypes.map(\.currentFormat) == [1, 1, 1])
        #expect(AttendanceDomainEvent.personal.names == [])
    }

    @Test(arguments: [
        (#"{"user":1}"#, "event"), (#"{"event":"12","user":1}"#, "event"), (#"{"event":12}"#, "user"),
        (#"{"event":12,"user":null}"#, "user"), (#"{"event":12,"user":1.5}"#, "user"), (#"{"event":0,"user":1}"#, "event"),
        (#"{"event":12,"user":-1}"#, "user"), (#"{"event":9223372036854775808,"user":1}"#, "event"),
    ])
    func `an unusable field of an attendance event is named in the error, without its value`(text: String, field: String) {
        for type in ["AttendanceAdded", "AttendanceRemoved", "AttendanceErased"] {
            #expect(throws: FormatError("\(type), format 1: no usable \(field) in the stored data")) {
                try AttendanceDomainEvent.decode(StoredEvent(type: type, format: 1, facts: Array(text.utf8)))
            }
        }
    }
}

@Suite struct `The stream of an attendance` {
    @Test(
        arguments: [
            ("AttendanceAdded", "attendance-12-2", 1, "the stream is not named after event and user"),
            ("AttendanceAdded", "attendance-012-1", 1, "the stream is not named after event and user"),
            ("AttendanceRemoved", "attendance-12-2", 2, "the stream is not named after event and user"),
            ("AttendanceAdded", "attendance-12-1", 2, "an attendance is added at odd versions only"),
            ("AttendanceRemoved", "attendance-12-1", 1, "an attendance is removed at even versions only"),
            ("AttendanceErased", "attendance-12-2", 2, "the stream is not named after event and user"),
            ("AttendanceErased", "attendance-12-1", 1, "an attendance is added before it is erased"),
        ] as [(String, String, Int32, String)])
    func `an attendance event in a wrong stream or at a wrong version is refused`(
        type: String, stream: String, version: Int32, reason: String
    ) {
        let stored = StoredEvent(type: type, format: 1, facts: Array(#"{"event":12,"user":1}"#.utf8))
        #expect(throws: FormatError("\(type), format 1: \(reason)")) {
            try AttendanceDomainEvent.decode(stored, in: StreamName(stream), version: version)
        }
    }

    @Test(arguments: [1, 2, 3, 4] as [Int32]) func `an attendance is added and removed in turn`(version: Int32) {
        let type = version.isMultiple(of: 2) ? "AttendanceRemoved" : "AttendanceAdded"
        let stored = StoredEvent(type: type, format: 1, facts: Array(#"{"event":12,"user":1}"#.utf8))
        #expect(throws: Never.self) {
            try AttendanceDomainEvent.decode(stored, in: StreamName("attendance-12-1"), version: version)
        }
    }

    @Test func `operators see in the state whether the user attends`() {
        let (event, user) = (EventID(rawValue: 12), UserID(rawValue: 1))
        let added = AttendanceDomainEvent.added(AttendanceAdded(event: event, user: user))
        let removed = AttendanceDomainEvent.removed(AttendanceRemoved(event: event, user: user))
        #expect(added.state == ["event": JSON(12), "user": JSON(1), "attending": .bool(true)])
        #expect(removed.state == ["event": JSON(12), "user": JSON(1), "attending": .bool(false)])
        #expect(AttendanceDomainEvent.erased(AttendanceErased(event: event, user: user)).state == removed.state)
    }

    @Test func `the key of an attendance stream is the event number, then the user number`() {
        let key = AttendanceKey(event: EventID(rawValue: 12), user: UserID(rawValue: 1))
        #expect(key.stream.description == "attendance-12-1")
        #expect(key.stream.category == "attendance")
    }

    /// The first id is a stored format: a repeated request of an earlier release must find it.
    @Test func `each version has an id of its own, and the first one's is pinned`() {
        let key = AttendanceKey(event: EventID(rawValue: 12), user: UserID(rawValue: 1))
        #expect(key.domainEventID(version: 1) == UUID(derivedFrom: "attendance 12 1"))
        let ids = Set((1...4).map { key.domainEventID(version: $0) })
        #expect(ids.count == 4)
        // Event 12 and user 13 have no id in common with event 12 and user 1 at version 3.
        #expect(
            ids.isDisjoint(with: [
                AttendanceKey(event: EventID(rawValue: 12), user: UserID(rawValue: 13)).domainEventID(version: 1)
            ]))
    }
}

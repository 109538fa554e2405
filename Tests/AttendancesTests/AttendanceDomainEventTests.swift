import Encoding
import EventStore
import Events
import Foundation
import TestDatabase
import Testing
import Users

@testable import Attendances

@Suite struct `Storing the domain events of attendances` {
    private static let key = AttendanceKey(event: EventID(rawValue: 12), user: UserID(rawValue: 1))
    private static let added = AttendanceDomainEvent.added(key)
    private static let removed = AttendanceDomainEvent.removed(key)
    private static let erased = AttendanceDomainEvent.erased(key)

    @Test func `each domain event is stored as these bytes and read from them, in format 1`() {
        let text = #"{"event":12,"user":1}"#
        #expect(
            AttendanceDomainEvent.faults(of: [
                (Self.added, "AttendanceAdded", text), (Self.removed, "AttendanceRemoved", text),
                (Self.erased, "AttendanceErased", text),
            ]) == [])
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
        for type in AttendanceDomainEvent.storedTypes.map(\.name) {
            #expect(
                AttendanceDomainEvent.refusal(of: type, text) == "\(type), format 1: no usable \(field) in the stored data")
        }
    }

    @Test func `an attendance is added and removed in turn, and may be erased at any later version`() {
        for version in 1...4 as ClosedRange<Int32> {
            let isAdded = version % 2 == 1
            let reasons = [Self.added, Self.removed, Self.erased].map { $0.refusal(in: "attendance-12-1", version: version) }
            #expect(
                reasons == [
                    isAdded ? nil : "AttendanceAdded, format 1: an attendance is added at odd versions only",
                    isAdded ? "AttendanceRemoved, format 1: an attendance is removed at even versions only" : nil,
                    version == 1 ? "AttendanceErased, format 1: an attendance is added before it is erased" : nil,
                ])
        }
        for (event, stream, version) in [
            (Self.added, "attendance-12-2", 1), (Self.added, "attendance-012-1", 1), (Self.removed, "attendance-12-2", 2),
            (Self.erased, "attendance-12-2", 2),
        ] as [(AttendanceDomainEvent, String, Int32)] {
            let reason = event.refusal(in: stream, version: version)
            #expect(reason == "\(event.stored.type), format 1: the stream is not named after event and user")
        }
    }

    @Test func `operators see in the state whether the user attends`() {
        #expect(Self.added.state == ["event": JSON(12), "user": JSON(1), "attending": .bool(true)])
        #expect(Self.removed.state == ["event": JSON(12), "user": JSON(1), "attending": .bool(false)])
        #expect(Self.erased.state == Self.removed.state)
    }

    /// The first id is a stored format: a repeated request of an earlier release must find it.
    @Test func `a stream is named after event and user, and each version has an id of its own, of which the first is pinned`() {
        #expect(Self.key.stream == StreamName(category: "attendance", key: "12-1"))
        #expect(Self.key.domainEventID(version: 1) == UUID(derivedFrom: "attendance 12 1"))
        let ids = Set((1...4).map { Self.key.domainEventID(version: $0) })
        #expect(ids.count == 4)
        // Event 12 and user 13 have no id in common with event 12 and user 1 at version 3.
        let other = AttendanceKey(event: Self.key.event, user: UserID(rawValue: 13))
        #expect(!ids.contains(other.domainEventID(version: 1)))
    }
}

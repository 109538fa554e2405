import Encoding
import EventStore
import TestDatabase
import Testing

@testable import Users

@Suite struct `Storing the domain events of users` {
    private static let device = #"{"device":"03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"}"#
    private static let created = UserDomainEvent.created(device: .present(DeviceToken(secret: "device-1").digest))
    private static let rotated = UserDomainEvent.rotated(device: .present(DeviceToken(secret: "device-1").digest))

    @Test func `each domain event is stored as these bytes and read from them, in format 1, and its device is personal`() {
        #expect(
            UserDomainEvent.faults(of: [
                (Self.created, "UserCreated", Self.device), (Self.rotated, "TokenRotated", Self.device),
                (.revoked, "TokenRevoked", "{}"), (.erased, "UserErased", "{}"),
            ]) == [])
        #expect(UserDomainEvent.category == "user")
        #expect(UserDomainEvent.storedTypes.map(\.name) == ["UserCreated", "TokenRotated", "TokenRevoked", "UserErased"])
        #expect(UserDomainEvent.storedTypes.map(\.currentFormat) == [1, 1, 1, 1])
        #expect(UserDomainEvent.personal.names == ["device"])
        #expect(UserDomainEvent.erased.state == ["device": .null, "erased": .bool(true)])
    }

    @Test(arguments: [
        #"{"device":null}"#, #"{"device":7}"#, #"{"device":"03204de9"}"#,
        #"{"device":"03204DE92E11FC8C528139BE419065920EB83DBFF1A4663BBEA455AA6E9702BD"}"#,
    ])
    func `a user event without a valid digest is refused, and the error does not show the value`(text: String) {
        for type in ["UserCreated", "TokenRotated"] {
            let reason = UserDomainEvent.refusal(of: type, text)
            #expect(reason == "\(type), format 1: no usable device in the stored data")
        }
    }

    @Test func `a user is created at version 1 only, and changed afterwards`() {
        let changes: [(event: UserDomainEvent, change: String)] = [
            (Self.rotated, "its token is rotated"), (.revoked, "its token is revoked"), (.erased, "it is erased"),
        ]
        for (event, change) in changes {
            let type = event.stored.type
            let early = event.refusal(in: "user-7", version: 1)
            #expect(early == "\(type), format 1: a user is created before \(change)")
            #expect(event.refusal(in: "event-7", version: 2) == "\(type), format 1: the stream is not named after a user's id")
            for version: Int32 in [2, 3] { #expect(event.refusal(in: "user-7", version: version) == nil) }
        }
        let late = Self.created.refusal(in: "user-7", version: 2)
        #expect(late == "UserCreated, format 1: a user is created at version 1 only")
        #expect(Self.created.refusal(in: "user-7", version: 1) == nil)
    }

    @Test func `the stream of a user is named after the user's number, and another name is refused`() {
        #expect(UserID(rawValue: 1).stream.description == "user-1")
        #expect(UserID(stream: StreamName("user-1")) == UserID(rawValue: 1))
        for name in ["event-1", "user-01"] {
            #expect(UserID(stream: StreamName(name)) == nil, "\(name)")
            let reason = Self.created.refusal(in: name, version: 1)
            #expect(reason == "UserCreated, format 1: the stream is not named after a user's id", "\(name)")
        }
    }
}

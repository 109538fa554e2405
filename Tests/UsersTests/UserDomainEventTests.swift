import Encoding
import EventStore
import TestDatabase
import Testing

@testable import Users

@Suite struct `Storing the domain events of users` {
    @Test func `each domain event is stored as these bytes and read from them`() throws {
        let digest = DeviceToken(secret: "device-1").digest
        let text = #"{"device":"03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"}"#
        let events: [(UserDomainEvent, String, String)] = [
            (.created(UserCreated(device: digest)), "UserCreated", text),
            (.rotated(TokenRotated(device: digest)), "TokenRotated", text), (.revoked, "TokenRevoked", "{}"),
        ]
        for (domainEvent, type, text) in events {
            #expect((domainEvent.stored.type, domainEvent.stored.data.text) == (type, text))
            #expect(try UserDomainEvent.decode(type, together: Array(text.utf8)) == domainEvent)
        }
    }

    @Test func `the domain events of users have four stored names, all in format 1`() {
        #expect(UserDomainEvent.category == "user")
        #expect(UserDomainEvent.storedTypes.map(\.name) == ["UserCreated", "TokenRotated", "TokenRevoked", "UserErased"])
        #expect(UserDomainEvent.storedTypes.map(\.currentFormat) == [1, 1, 1, 1])
    }

    @Test(arguments: [
        #"{"device":null}"#, #"{"device":7}"#, #"{"device":"03204de9"}"#,
        #"{"device":"03204DE92E11FC8C528139BE419065920EB83DBFF1A4663BBEA455AA6E9702BD"}"#,
    ])
    func `a user event without a valid digest is refused, and the error does not show the value`(text: String) {
        for type in ["UserCreated", "TokenRotated"] {
            #expect(throws: FormatError("\(type), format 1: no usable device in the stored data")) {
                try UserDomainEvent.decode(type, together: Array(text.utf8))
            }
        }
    }
}

@Suite struct `Erased domain events of users` {
    private static let text = #"{"salt":"00","device":"03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"}"#

    private func decode(_ type: String, _ personal: Personal<[UInt8]>?) throws -> UserDomainEvent {
        try UserDomainEvent.decode(StoredEvent(type: type, format: 1, facts: Array("{}".utf8), personal: personal))
    }

    @Test func `a digest beside the facts is read, and an erased one is read as erased`() throws {
        let digest = DeviceToken(secret: "device-1").digest
        for type in ["UserCreated", "TokenRotated"] {
            let present = try decode(type, .present(Array(Self.text.utf8)))
            let erased = try decode(type, .erased)
            #expect(present.stored.type == type)
            #expect(present.stored.data == ["device": .string(digest.hexadecimal)])
            #expect(erased.stored.type == type)
            #expect(erased.stored.data == [:])
            #expect(present != erased)
        }
    }

    @Test(arguments: ["{}", "[]"]) func `a user event that never had a digest is refused`(facts: String) {
        for type in ["UserCreated", "TokenRotated"] {
            #expect(throws: FormatError("\(type), format 1: no personal members in the stored data")) {
                try UserDomainEvent.decode(type, together: Array(facts.utf8))
            }
        }
        #expect(throws: FormatError("UserCreated, format 1: no usable device in the stored data")) {
            try decode("UserCreated", .present(Array(#"{"salt":"00"}"#.utf8)))
        }
    }

    @Test func `UserErased is stored without members, behind UserCreated`() throws {
        #expect(UserDomainEvent.erased.stored.type == "UserErased")
        #expect(UserDomainEvent.erased.stored.data.text == "{}")
        #expect(try decode("UserErased", nil) == .erased)
        #expect(throws: FormatError("a user is created before it is erased")) {
            try UserDomainEvent.erased.check(in: StreamName("user-7"), version: 1)
        }
        try UserDomainEvent.erased.check(in: StreamName("user-7"), version: 2)
    }

    @Test func `the device is personal, and operators see in the state that a user is erased`() {
        #expect(UserDomainEvent.personal.names == ["device"])
        #expect(UserDomainEvent.erased.state == ["device": .null, "erased": .bool(true)])
    }
}

@Suite struct `The stream of a user` {
    @Test(
        arguments: [
            ("event-1", 1, "the stream is not named after a user's id"),
            ("user-01", 1, "the stream is not named after a user's id"),
            ("user-1", 2, "a user is created at version 1 only"),
        ] as [(String, Int32, String)])
    func `a user stream contains UserCreated at version 1 only`(stream: String, version: Int32, reason: String) {
        let event = UserDomainEvent.created(UserCreated(device: DeviceToken(secret: "device-1").digest))
        let stored = StoredEvent(type: event.stored.type, format: 1, together: event.stored.data.utf8, of: UserDomainEvent.self)
        #expect(throws: FormatError("UserCreated, format 1: \(reason)")) {
            try UserDomainEvent.decode(stored, in: StreamName(stream), version: version)
        }
        #expect(throws: Never.self) { try UserDomainEvent.decode(stored, in: StreamName("user-7"), version: 1) }
    }

    @Test(arguments: [
        ("TokenRotated", #"{"device":"03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"}"#, "rotated"),
        ("TokenRevoked", "{}", "revoked"),
    ])
    func `a token changes after its user was created only`(type: String, data: String, word: String) {
        let stored = StoredEvent(type: type, format: 1, together: Array(data.utf8), of: UserDomainEvent.self)
        #expect(throws: FormatError("\(type), format 1: a user is created before its token is \(word)")) {
            try UserDomainEvent.decode(stored, in: StreamName("user-7"), version: 1)
        }
        #expect(throws: FormatError("\(type), format 1: the stream is not named after a user's id")) {
            try UserDomainEvent.decode(stored, in: StreamName("event-7"), version: 2)
        }
        for version: Int32 in [2, 3] {
            #expect(throws: Never.self) { try UserDomainEvent.decode(stored, in: StreamName("user-7"), version: version) }
        }
    }

    @Test func `the key of a user stream is the user number`() {
        #expect(UserID(rawValue: 1).stream.description == "user-1")
        #expect(UserID(stream: StreamName("user-1")) == UserID(rawValue: 1))
    }

    @Test(arguments: [
        "event-1", "attendance-12-1", "user-x", "user-", "user-1-2", "user", "users-1", "user-0", "user--1", "user-+1", "user-01",
        "user-9223372036854775808",
    ])
    func `a stream name that is not a user's is refused`(stream: String) {
        #expect(UserID(stream: StreamName(stream)) == nil)
    }
}

import Encoding
import EventStore
import TestChance
import TestDatabase
import Testing

@testable import Accounts

private let key43 = String(repeating: "A", count: 43)

@Suite struct `Storing the domain events of accounts` {
    private static func events() throws -> [(event: AccountDomainEvent, type: String, text: String)] {
        let digest = AccountToken(secret: "token-2").digest
        return [
            (
                .created(try .ann()), "AccountCreated",
                #"{"name":"Ann","email":"ann@example.org","password":"$scrypt$ln=4,r=8,p=1$\#(salt22)$\#(key43)","token":"\#(firstDigest)"}"#
            ),
            (
                .passwordChanged(PasswordChanged(password: try .numbered(5))), "PasswordChanged",
                #"{"password":"$scrypt$ln=5,r=8,p=1$\#(salt22)$\#(key43)"}"#
            ),
            (.signedIn(SignedIn(token: digest, replaced: nil)), "SignedIn", #"{"token":"\#(secondDigest)","replaced":null}"#),
            (
                .signedIn(SignedIn(token: digest, replaced: AccountToken(secret: "token-1").digest)), "SignedIn",
                #"{"token":"\#(secondDigest)","replaced":"\#(firstDigest)"}"#
            ),
            (.signedOut(SignedOut(revoked: digest)), "SignedOut", #"{"revoked":"\#(secondDigest)"}"#),
            (.erased, "AccountErased", "{}"),
        ]
    }

    @Test func `each domain event is stored as these bytes and read from them`() throws {
        for (event, type, text) in try Self.events() {
            #expect(event.stored.type == type)
            #expect(event.stored.data.text == text)
            #expect(try AccountDomainEvent.decode(type, together: Array(text.utf8)) == event)
        }
    }

    @Test func `an account without a name is stored with null`() throws {
        let created = try AccountCreated.ann(name: nil)
        let stored = AccountDomainEvent.created(created).stored
        #expect(stored.data["name"] == .null)
        #expect(
            try AccountDomainEvent.decode(stored.type, together: stored.data.utf8) == .created(created)
        )
    }

    @Test func `personal members beside the facts are read, and erased ones are read as erased`() throws {
        for (event, type, text) in try Self.events() where type != "AccountErased" {
            let apart = StoredEvent(
                type: type, format: 1, facts: Array("{}".utf8),
                personal: .present(Array(#"{"salt":"00",\#(text.dropFirst())"#.utf8)))
            #expect(try AccountDomainEvent.decode(apart) == event)
            let erased = try AccountDomainEvent.decode(
                StoredEvent(type: type, format: 1, facts: Array("{}".utf8), personal: .erased))
            #expect(erased != event)
            #expect(erased.stored.type == type)
            #expect(erased.stored.data == [:])
            #expect(throws: FormatError("\(type), format 1: no personal members in the stored data")) {
                try AccountDomainEvent.decode(type, together: Array("{}".utf8))
            }
        }
        #expect(AccountDomainEvent.erased.state == ["erased": .bool(true)])
    }

    @Test func `every member is personal, and addresses and tokens are unique`() {
        #expect(AccountDomainEvent.personal.names == ["name", "email", "password", "token", "replaced", "revoked"])
        #expect(AccountDomainEvent.uniqueMembers == ["email", "token"])
        #expect(
            AccountDomainEvent.storedTypes.map(\.name) == [
                "AccountCreated", "PasswordChanged", "SignedIn", "SignedOut", "AccountErased",
            ])
    }

    @Test func `an error about a stored account does not show its values`() throws {
        let data = #"{"name":"Ann","email":"Ann@Example.org","password":"correct horse","token":"x"}"#
        #expect(throws: FormatError("AccountCreated, format 1: no usable email in the stored data")) {
            try AccountDomainEvent.decode("AccountCreated", together: Array(data.utf8))
        }
    }

    @Test(
        arguments: [
            ("task-7", 1, "the stream is not named after an account's id"),
            ("account-07", 1, "the stream is not named after an account's id"),
            ("account-7", 2, "an account is created at version 1 only"),
        ] as [(String, Int32, String)])
    func `AccountCreated stands at version 1 of an account's stream`(stream: String, version: Int32, reason: String) throws {
        let stored = AccountDomainEvent.created(try .ann()).stored
        #expect(throws: FormatError("AccountCreated, format 1: \(reason)")) {
            try AccountDomainEvent.decode(
                StoredEvent(type: stored.type, format: 1, together: stored.data.utf8, of: AccountDomainEvent.self),
                in: StreamName(stream), version: version)
        }
    }

    @Test func `no other domain event stands at version 1, and no name has a null character`() throws {
        for (event, _, _) in try Self.events().dropFirst() {
            #expect(throws: FormatError("an account is created before it is changed")) {
                try event.check(in: StreamName("account-7"), version: 1)
            }
        }
        let created = try AccountCreated.ann(name: "A\0")
        let event = AccountDomainEvent.created(created)
        #expect(throws: FormatError("the name contains U+0000")) { try event.check(in: StreamName("account-7"), version: 1) }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `faulty account data is decoded faithfully or refused with a named error`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let events = try Self.events()
        for number in 0..<2_000 {
            let (_, type, text) = events[number % events.count]
            let data = mutations.next(of: [text])
            do {
                let event = try AccountDomainEvent.decode(type, together: data)
                try #require(
                    try AccountDomainEvent.decode(type, together: event.stored.data.utf8) == event)
            } catch is FormatError {
                // The error is a sentence that names the violation.
            }
        }
    }
}

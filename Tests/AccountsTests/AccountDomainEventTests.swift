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
                .passwordChanged(.present(try .numbered(5))), "PasswordChanged",
                #"{"password":"$scrypt$ln=5,r=8,p=1$\#(salt22)$\#(key43)"}"#
            ),
            (
                .created(try .ann(name: nil)), "AccountCreated",
                #"{"name":null,"email":"ann@example.org","password":"$scrypt$ln=4,r=8,p=1$\#(salt22)$\#(key43)","token":"\#(firstDigest)"}"#
            ),
            (.signedIn(.present(SignedIn(token: digest))), "SignedIn", #"{"token":"\#(secondDigest)","replaced":null}"#),
            (
                .signedIn(.present(SignedIn(token: digest, replaced: AccountToken(secret: "token-1").digest))), "SignedIn",
                #"{"token":"\#(secondDigest)","replaced":"\#(firstDigest)"}"#
            ),
            (.signedOut(revoked: .present(digest)), "SignedOut", #"{"revoked":"\#(secondDigest)"}"#),
            (.erased, "AccountErased", "{}"),
        ]
    }

    @Test func `each domain event is stored as these bytes and read from them`() throws {
        #expect(AccountDomainEvent.faults(of: try Self.events()) == [])
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

    @Test func `an error about a stored account does not show its values`() {
        let data = #"{"name":"Ann","email":"Ann@Example.org","password":"correct horse","token":"x"}"#
        let reason = AccountDomainEvent.refusal(of: "AccountCreated", data)
        #expect(reason == "AccountCreated, format 1: no usable email in the stored data")
    }

    @Test func `AccountCreated stands at version 1 of an account's stream, and the others behind it`() throws {
        for (event, type, _) in try Self.events() {
            let (own, other): (Int32, Int32) = type == "AccountCreated" ? (1, 2) : (2, 1)
            for stream in ["task-7", "account-07"] {
                let reason = event.refusal(in: stream, version: own)
                #expect(reason == "\(type), format 1: the stream is not named after an account's id")
            }
            let reason = own == 1 ? "an account is created at version 1 only" : "an account is created before it is changed"
            #expect(event.refusal(in: "account-7", version: other) == "\(type), format 1: \(reason)")
            #expect(event.refusal(in: "account-7", version: own) == nil)
        }
        let nameless = AccountDomainEvent.created(try .ann(name: "A\0"))
        #expect(nameless.refusal(in: "account-7", version: 1) == "AccountCreated, format 1: the name contains U+0000")
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `faulty account data is decoded faithfully or refused with a named error`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let events = try Self.events()
        for number in 0..<2_000 {
            let (_, type, text) = events[number % events.count]
            try #require(try AccountDomainEvent.isFaithful(to: mutations.next(of: [text]), as: type))
        }
    }
}

import Encoding
import EventStore
import TestDatabase
import Testing

@testable import Users

@Suite struct `Storing the domain events of passes` {
    private static let hexadecimal = "03204de92e11fc8c528139be419065920eb83dbff1a4663bbea455aa6e9702bd"
    private static let digest = Personal.present(DeviceToken(secret: "device-1").digest)
    private static let events: [(event: PassDomainEvent, type: String, text: String)] = [
        (
            .issued(.transfer, digest: digest, expiresAt: Timestamp(milliseconds: 1_379_289_600_000)), "PassIssued",
            #"{"kind":"transfer","digest":"\#(hexadecimal)","expires_at":"2013-09-16T00:00:00.000Z"}"#
        ),
        (
            .issued(.recovery, digest: digest, expiresAt: nil), "PassIssued",
            #"{"kind":"recovery","digest":"\#(hexadecimal)","expires_at":null}"#
        ),
        (.used(.transfer, digest: digest), "PassUsed", #"{"kind":"transfer","digest":"\#(hexadecimal)"}"#),
        (.ended(.recovery), "PassEnded", #"{"kind":"recovery"}"#), (.erased, "PassErased", "{}"),
    ]

    @Test func `each domain event is stored as these bytes and read from them, in format 1, and its digest is personal`() {
        #expect(PassDomainEvent.faults(of: Self.events) == [])
        #expect(PassDomainEvent.category == "pass")
        #expect(PassDomainEvent.storedTypes.map(\.name) == ["PassIssued", "PassUsed", "PassEnded", "PassErased"])
        #expect(PassDomainEvent.storedTypes.map(\.currentFormat) == [1, 1, 1, 1])
        #expect(PassDomainEvent.personal.names == ["digest"])
        #expect(PassKind.allCases.map(\.rawValue) == ["transfer", "recovery", "calendar"])
    }

    @Test(
        arguments: [
            (#""transfer""#, #""recovery""#, nil), (#""transfer""#, #""visit""#, "kind"), (#""transfer""#, "7", "kind"),
            (hexadecimal, "03204DE9", "digest"), (#""2013-09-16T00:00:00.000Z""#, "7", "expires_at"),
            (#","expires_at":"2013-09-16T00:00:00.000Z""#, "", "expires_at"),
        ] as [(String, String, String?)])
    func `an unusable field is named in the error, without its value`(old: String, new: String, field: String?) {
        let reason = PassDomainEvent.refusal(of: "PassIssued", Self.events[0].text.replacing(old, with: new))
        #expect(reason == field.map { "PassIssued, format 1: no usable \($0) in the stored data" })
    }

    @Test func `a stream is named after the user, and begins with a pass that is issued`() {
        #expect(UserID(rawValue: 7).passes.description == "pass-7")
        for (event, type, _) in Self.events {
            let early = type == "PassIssued" ? nil : "\(type), format 1: a pass is issued before it is used, ended or erased"
            #expect(event.refusal(in: "pass-7", version: 1) == early)
            #expect(event.refusal(in: "pass-7", version: 2) == nil)
            for name in ["user-7", "pass-07", "pass-x"] {
                let reason = event.refusal(in: name, version: 2)
                #expect(reason == "\(type), format 1: the stream is not named after a user's id", "\(name)")
            }
        }
    }

    @Test func `operators see the last domain event of each kind in the state`() {
        let states = [
            #"{"transfer":"PassIssued"}"#, #"{"recovery":"PassIssued"}"#, #"{"transfer":"PassUsed"}"#,
            #"{"recovery":"PassEnded"}"#, #"{"erased":true}"#,
        ]
        #expect(Self.events.map { $0.event.state.text } == states)
    }
}

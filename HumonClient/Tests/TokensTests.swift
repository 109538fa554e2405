import Foundation
import Testing

@testable import HumonClient

@Suite struct `The tokens of a device` {
    @Test func `two sign-ups at the same time use one token, which is stored before`() async throws {
        let store = MemoryTokenStore()
        let identity = DeviceIdentity(store: store)
        async let first = identity.tokenForSignUp()
        async let second = identity.tokenForSignUp()
        let tokens = try await [first, second]
        #expect(tokens[0] == tokens[1])
        #expect(store.load() == DeviceTokens(current: tokens[0]))
    }

    @Test func `a rotation that was interrupted continues with the same new token`() async throws {
        let store = MemoryTokenStore(DeviceTokens(current: "a"))
        let next = try await DeviceIdentity(store: store).tokensForRotation().next
        #expect(store.load() == DeviceTokens(current: "a", next: next))
        let identity = DeviceIdentity(store: store)
        #expect(try await identity.tokensForRotation() == ("a", next))
        try await identity.finishRotation(to: next)
        #expect(store.load() == DeviceTokens(current: next))
        try await identity.finishRotation(to: next)
        #expect(store.load() == DeviceTokens(current: next))
    }

    @Test func `a return takes the same new token again, whether or not the device had one`() async throws {
        for stored in [nil, DeviceTokens(current: "a")] {
            let store = MemoryTokenStore(stored)
            let token = try await DeviceIdentity(store: store).tokenForReturn()
            let before = try #require(store.load())
            #expect(before.next == token && before.current != token && (stored == nil || before.current == "a"))
            let identity = DeviceIdentity(store: store)
            #expect(try await identity.tokenForReturn() == token)
            try await identity.finishRotation(to: token)
            #expect(store.load() == DeviceTokens(current: token))
        }
    }

    @Test func `a device without a token has nothing to rotate`() async {
        await #expect(throws: HumonError.notSignedUp) {
            try await DeviceIdentity(store: MemoryTokenStore()).tokensForRotation()
        }
    }
}

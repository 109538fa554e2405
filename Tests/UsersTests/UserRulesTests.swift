import EventStore
import Testing

@testable import Users

@Suite struct `Replacing the token of a user` {
    private let old = DeviceToken(secret: "old").digest
    private let new = DeviceToken(secret: "new").digest
    private var user: User { User(id: UserID(rawValue: 7), version: 3, device: old) }

    @Test func `the present token is replaced by the new one`() throws {
        #expect(try decideRotation(of: old, to: new, on: user) == .rotated(device: .present(new)))
    }

    @Test func `a token that is not the present one is rejected as unauthorized`() {
        var rotated = user
        rotated.device = DeviceToken(secret: "newer").digest
        var revoked = user
        revoked.device = nil
        for user in [nil, rotated, revoked] {
            #expect(throws: UserRejection.unknownToken) { try decideRotation(of: old, to: new, on: user) }
        }
        #expect(UserRejection.unknownToken.kind == .unauthorized)
        #expect(UserRejection.unknownToken.message == nil)
    }

    @Test func `the present token is no new token`() {
        #expect(throws: UserRejection.usedToken) { try decideRotation(of: old, to: old, on: user) }
    }
}

@Suite struct `Revoking the token of a user` {
    @Test func `a user with a token loses it, one without gives no domain event, and an unknown one is rejected`() throws {
        let token = DeviceToken(secret: "token").digest
        #expect(try decideRevocation(of: User(id: UserID(rawValue: 7), version: 1, device: token)) == .revoked)
        #expect(try decideRevocation(of: User(id: UserID(rawValue: 7), version: 2, device: nil)) == nil)
        #expect(throws: UserRejection.unknownUser) { try decideRevocation(of: nil) }
    }
}

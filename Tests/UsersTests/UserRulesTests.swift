import Encoding
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

@Suite struct `Deciding a return` {
    private static let moment = Timestamp(milliseconds: 600_000)

    private static func pass(_ kind: PassKind = .transfer, expiresAt: Timestamp?) -> Pass {
        Pass(
            user: UserID(rawValue: 7), kind: kind, digest: DeviceToken(secret: "pass").digest,
            issuedAt: Timestamp(milliseconds: 0), expiresAt: expiresAt)
    }

    @Test func `a pass is used until the moment at which it expires, also by a user without a token`() throws {
        let token = UserDomainEvent.created(device: .present(DeviceToken(secret: "old").digest))
        for (pass, last) in [
            (Self.pass(expiresAt: Self.moment), token), (Self.pass(.recovery, expiresAt: nil), UserDomainEvent.revoked),
        ] {
            let used = try decideReturn(with: pass, after: last, at: Timestamp(milliseconds: 599_999))
            #expect(used == .used(pass.kind, digest: .present(pass.digest)))
        }
    }

    @Test func `no pass, one that has expired, a calendar's and one of an erased user are equally unknown`() {
        for (pass, last) in [
            (nil, .revoked), (Self.pass(expiresAt: Self.moment), .revoked), (Self.pass(expiresAt: nil), .erased),
            (Self.pass(.calendar, expiresAt: nil), .revoked),
        ] as [(Pass?, UserDomainEvent)] {
            #expect(throws: UserRejection.unknownPass) { try decideReturn(with: pass, after: last, at: Self.moment) }
        }
        #expect(UserRejection.unknownPass.kind == .notFound)
        #expect((UserRejection.unknownPass.code, UserRejection.unknownPass.message) == (nil, nil))
    }
}

import Encoding
import EventStore
import TestDatabase
import Testing

@testable import Users

@Suite struct `Folding the domain events of passes` {
    private typealias Key = PassesProjection.Key

    private static let (first, second) = (DeviceToken(secret: "first").digest, DeviceToken(secret: "second").digest)
    private static let (ann, bob) = (UserID(rawValue: 1), UserID(rawValue: 2))

    private static func fold(_ events: [(PassDomainEvent, String)]) -> [Key: Pass?] {
        PassesProjection().fold(
            zip(Int32(1)..., events).map { .of($1.0, in: $1.1, version: $0, at: Int64($0)) })
    }

    private static func issued(_ kind: PassKind, _ digest: DeviceDigest) -> PassDomainEvent {
        .issued(kind, digest: .present(digest), expiresAt: Timestamp(milliseconds: 9))
    }

    private static func pass(_ user: UserID, _ kind: PassKind, _ digest: DeviceDigest, at version: Int64) -> Pass {
        Pass(
            user: user, kind: kind, digest: digest, issuedAt: Timestamp(milliseconds: version),
            expiresAt: Timestamp(milliseconds: 9))
    }

    @Test func `the newest pass of each kind and user has a row, and a stream of another category gives none`() {
        let rows = Self.fold([
            (Self.issued(.transfer, Self.first), "pass-1"), (Self.issued(.transfer, Self.second), "pass-1"),
            (Self.issued(.recovery, Self.first), "pass-1"), (Self.issued(.transfer, Self.first), "pass-2"),
            (Self.issued(.transfer, Self.first), "user-3"),
        ])
        #expect(
            rows == [
                Key(user: Self.ann, kind: .transfer): Self.pass(Self.ann, .transfer, Self.second, at: 2),
                Key(user: Self.ann, kind: .recovery): Self.pass(Self.ann, .recovery, Self.first, at: 3),
                Key(user: Self.bob, kind: .transfer): Self.pass(Self.bob, .transfer, Self.first, at: 4),
            ])
    }

    @Test func `an erased user has no rows, also in a rebuild that reads erased digests`() {
        let none = Dictionary(uniqueKeysWithValues: PassKind.allCases.map { (Key(user: Self.ann, kind: $0), Pass?.none) })
        #expect(Self.fold([(Self.issued(.transfer, Self.first), "pass-1"), (.erased, "pass-1")]) == none)
        let erased = Self.fold([
            (.issued(.transfer, digest: .erased, expiresAt: nil), "pass-1"), (.used(.recovery, digest: .erased), "pass-1"),
            (.issued(.recovery, digest: .erased, expiresAt: nil), "pass-1"),
            (.issued(.calendar, digest: .erased, expiresAt: nil), "pass-1"),
        ])
        #expect(erased == none)
    }
}

import EventStore
import Synchronization
import TestDatabase
import Testing

@testable import Events
@testable import Users

@Suite struct `Ending what depends on a token` {
    /// Counts the calls of an action.
    private final class Calls: Sendable {
        private let number = Atomic(0)

        var count: Int { number.load(ordering: .relaxed) }
        func add() { number.add(1, ordering: .relaxed) }
    }

    private static let (user, other) = (UserID(rawValue: 7), UserID(rawValue: 8))

    @Test func `an ending calls the actions of its user once, and no action that was forgotten`() {
        let (endings, calls, others) = (TokenEndings(), Calls(), Calls())
        let mark = TokenEndings.Mark(count: 0)
        for _ in 0..<2 { _ = endings.onEnd(of: Self.user, since: mark) { calls.add() } }
        endings.forget(endings.onEnd(of: Self.user, since: mark) { others.add() }, of: Self.user)
        _ = endings.onEnd(of: Self.other, since: mark) { others.add() }
        for _ in 0..<2 { endings.end(Self.user) }
        #expect(calls.count == 2 && others.count == 0)
    }

    @Test func `an ending between the mark and the action is not missed`() {
        let (endings, calls) = (TokenEndings(), Calls())
        let before = TokenEndings.Mark(count: 0)
        endings.end(Self.user)
        let after = TokenEndings.Mark(count: 1)
        _ = endings.onEnd(of: Self.user, since: before) { calls.add() }
        #expect(calls.count == 1)
        _ = endings.onEnd(of: Self.user, since: after) { calls.add() }
        _ = endings.onEnd(of: Self.other, since: before) { calls.add() }
        #expect(calls.count == 1)
    }

    @Test func `a mark that is older than the remembered endings counts as one before an ending`() {
        let (endings, calls) = (TokenEndings(), Calls())
        for number in 1...Int64(TokenEndings.endedLimit) + 2 { endings.end(UserID(rawValue: 100 + number)) }
        _ = endings.onEnd(of: Self.user, since: TokenEndings.Mark(count: 0)) { calls.add() }
        #expect(calls.count == 1)
        _ = endings.onEnd(of: Self.user, since: TokenEndings.Mark(count: TokenEndings.endedLimit + 1)) { calls.add() }
        #expect(calls.count == 1)
    }

    @Test func `while the index is not loaded there is no mark, and a mark from before counts as one before an ending`() throws {
        let (endings, dropped, calls) = (TokenEndings(), Calls(), Calls())
        #expect(endings.mark == nil)
        endings.begin()
        let mark = try #require(endings.mark)
        _ = endings.onEnd(of: Self.user, since: mark) { dropped.add() }
        endings.stop()
        #expect(endings.mark == nil)
        endings.begin()
        _ = endings.onEnd(of: Self.user, since: mark) { calls.add() }
        endings.end(Self.user)
        #expect((dropped.count, calls.count) == (0, 1))
    }

    @Test func `a replacement and a revocation on one server end the user's actions on each, and a sign-up ends none`()
        async throws
    {
        try await TestNode.withTwo { first, second in
            func signUp(_ user: UserID) async throws {
                let device = DeviceToken(secret: "of \(user.rawValue)").digest
                _ = try await first.append(UserDomainEvent.created(device: .present(device)), to: user.stream, after: 0)
            }
            try await signUp(Self.user)
            let changes: [UserDomainEvent] = [.rotated(device: .present(DeviceToken(secret: "new").digest)), .revoked]
            let others = Calls()
            for (version, change) in zip(Int32(1)..., changes) {
                let calls = Calls()
                for endings in [second.index.endings, first.index.endings] {
                    let mark = try #require(endings.mark)
                    _ = endings.onEnd(of: Self.user, since: mark) { calls.add() }
                    _ = endings.onEnd(of: Self.other, since: mark) { others.add() }
                }
                if version == 1 { try await signUp(Self.other) }
                _ = try await first.append(change, to: Self.user.stream, after: version)
                // The writer's own node knows of it.
                #expect(calls.count > 0)
                try await eventually { calls.count == 2 }
            }
            #expect(others.count == 0)
        }
    }
}

import EventStore
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import Users

@Suite struct `Ending what depends on a token` {
    /// Counts the calls of an action.
    private final class Calls: Sendable {
        private let number = Atomic(0)

        var count: Int { number.load(ordering: .relaxed) }
        func add() { number.add(1, ordering: .relaxed) }
    }

    private static let (user, other) = (UserID(rawValue: 7), UserID(rawValue: 8))

    /// Follows no log.
    private static func endings() -> TokenEndings {
        let client = PostgresClient(PostgresConfiguration(url: "postgres://nowhere"), logger: .quiet)
        let notifier = LogNotifier(client: client, listens: false, logger: .quiet)
        return TokenEndings(client: client, notifier: notifier, logger: .quiet)
    }

    @Test func `an ending calls the actions of its user once, and no action that was forgotten`() {
        let (endings, calls, others) = (Self.endings(), Calls(), Calls())
        let mark = TokenEndings.Mark(count: 0)
        for _ in 0..<2 { _ = endings.onEnd(of: Self.user, since: mark) { calls.add() } }
        endings.forget(endings.onEnd(of: Self.user, since: mark) { others.add() }, of: Self.user)
        _ = endings.onEnd(of: Self.other, since: mark) { others.add() }
        for _ in 0..<2 { endings.end(Self.user) }
        #expect(calls.count == 2 && others.count == 0)
    }

    @Test func `an ending between the mark and the action is not missed`() {
        let (endings, calls) = (Self.endings(), Calls())
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
        let (endings, calls) = (Self.endings(), Calls())
        for number in 1...Int64(TokenEndings.endedLimit) + 2 { endings.end(UserID(rawValue: 100 + number)) }
        _ = endings.onEnd(of: Self.user, since: TokenEndings.Mark(count: 0)) { calls.add() }
        #expect(calls.count == 1)
        _ = endings.onEnd(of: Self.user, since: TokenEndings.Mark(count: TokenEndings.endedLimit + 1)) { calls.add() }
        #expect(calls.count == 1)
    }

    @Test func `a replacement and a revocation on one server end the user's actions on another, and a sign-up ends none`()
        async throws
    {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { node in
                let (id, token) = try await node.signUp("first")
                try await database.withClient(role: "log_app", connections: 2) { client in
                    let notifier = LogNotifier(client: client, listens: false, pollSeconds: 0.05, logger: .quiet)
                    let endings = TokenEndings(client: client, notifier: notifier, logger: .quiet)
                    try await withThrowingTaskGroup(of: Void.self) { group in
                        group.addTask { await notifier.run() }
                        group.addTask { try await endings.run() }
                        defer { group.cancelAll() }
                        #expect(endings.mark == nil)
                        endings.start()
                        try await eventually { endings.mark != nil }
                        let (replaced, revoked, others) = (Calls(), Calls(), Calls())
                        let mark = try #require(endings.mark)
                        _ = endings.onEnd(of: id, since: mark) { replaced.add() }
                        let (second, _) = try await node.signUp("second")
                        _ = endings.onEnd(of: second, since: mark) { others.add() }
                        _ = try await node.rotate(token, to: "third")
                        try await eventually { replaced.count == 1 }
                        _ = endings.onEnd(of: id, since: try #require(endings.mark)) { revoked.add() }
                        _ = try await node.revoke(id)
                        try await eventually { revoked.count == 1 }
                        #expect(others.count == 0)
                    }
                }
            }
        }
    }
}

import Encoding
import EventStore
import Foundation
import Postgres
import Synchronization
import TestDatabase
import Testing

@testable import Users

/// A clock that a test sets.
private final class Clock: Sendable {
    private let milliseconds = Atomic<Int64>(1_379_289_600_000)

    var dependencies: Dependencies {
        var dependencies = Dependencies.system
        dependencies.now = { [self] in Timestamp(milliseconds: milliseconds.load(ordering: .relaxed)) }
        return dependencies
    }

    func wait(seconds: Int64) { milliseconds.add(seconds * 1_000, ordering: .relaxed) }
}

@Suite struct `Coming back with a pass` {
    /// Expects that no server knows a pass.
    private static func expectUnknown(
        _ passes: PassSecret..., at nodes: TestNode<UsersModule>..., sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        for (number, pass) in passes.enumerated() {
            for node in nodes {
                await #expect(throws: UserRejection.unknownPass, "pass \(number)", sourceLocation: sourceLocation) {
                    try await node.comeBack(pass, as: UUID().uuidString)
                }
            }
        }
    }

    @Test func `a return gives the user a new token on both servers, and the old one is dead at once`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, old) = try await one.signUp("old")
            // The other server remembers the token from here on.
            #expect(try await two.append(of: old) != nil)
            let code = try await one.issue(.transfer, to: id)
            #expect(try await two.users.passes(of: id).map(\.kind) == [.transfer])
            let back = try await two.comeBack(PassSecret(typed: code.text.lowercased()), as: "new")
            #expect(back.id == id)
            for node in [one, two] {
                #expect(try await node.user(of: "old") == nil)
                #expect(try await node.user(of: "new") == id)
                #expect(try await node.append(of: old) == nil)
                #expect(try await node.users.passes(of: id).isEmpty)
            }
            #expect(try await one.types(id.passes) == ["PassIssued", "PassUsed"])
            #expect(try await one.types(id.stream) == ["UserCreated", "TokenRotated"])
            let models = ReadModels(projections: TestNode.projections, client: one.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        }
    }

    @Test func `the same pass and token again give the same user on both servers, and record nothing`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            for kind in [PassKind.transfer, .recovery] {
                let pass = try await one.issue(kind, to: id)
                let first = try await one.comeBack(pass, as: "new \(kind)")
                for node in [one, two] {
                    let again = try await node.comeBack(pass, as: "new \(kind)")
                    #expect((again.id, again.position) == (id, first.position))
                }
                #expect(try await one.reader.tail() == first.position)
            }
        }
    }

    @Test func `100 returns at once by one code give one success`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            let code = try await one.issue(.transfer, to: id)
            let winners = try await withThrowingTaskGroup(of: String?.self) { group in
                for number in 0..<100 {
                    group.addTask {
                        let (node, token) = (number.isMultiple(of: 2) ? one : two, "token \(number)")
                        do {
                            return try await node.comeBack(code, as: token).id == id ? token : "another user"
                        } catch UserRejection.unknownPass {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: [] as [String]) { if let token = $1 { $0.append(token) } }
            }
            #expect(winners.count == 1)
            for number in 0..<100 {
                #expect(try await one.user(of: "token \(number)") == (winners == ["token \(number)"] ? id : nil))
            }
            #expect(try await one.types(id.passes) == ["PassIssued", "PassUsed"])
        }
    }

    @Test(arguments: [PassKind.transfer, .recovery])
    func `100 repetitions of a return at once are one return`(kind: PassKind) async throws {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            let pass = try await one.issue(kind, to: id)
            let users = try await withThrowingTaskGroup(of: UserID.self) { group in
                for number in 0..<100 {
                    group.addTask { try await (number.isMultiple(of: 2) ? one : two).comeBack(pass, as: "new").id }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(users == Array(repeating: id, count: 100))
            #expect(try await one.types(id.stream) == ["UserCreated", "TokenRotated"])
        }
    }

    @Test func `a pass that was replaced, ended, used or has expired is as unknown as one that never was`() async throws {
        let clock = Clock()
        try await TestDatabase.with(TestNode.projections) { database in
            try await TestNode.with(database, dependencies: clock.dependencies) { node in
                let (id, _) = try await node.signUp("old")
                var dead = ["0000000000", "", "\u{1F375}", "7KQ2M"].map(PassSecret.init(typed:))
                for kind in PassKind.allCases {
                    for _ in 1...2 { dead.append(try await node.issue(kind, to: id)) }
                    let end = try await node.users.endPass(kind, of: id, context: TestNode.context)
                    #expect(try await node.users.endPass(kind, of: id, context: TestNode.context) == end)
                }
                dead.append(try await node.issue(.transfer, to: id))
                _ = try await node.comeBack(dead[dead.count - 1], as: "new")
                dead.append(try await node.issue(.transfer, to: id))
                let kept = try await node.issue(.recovery, to: id)
                clock.wait(seconds: 599)
                #expect(try await node.users.passes(of: id).map(\.kind) == [.recovery, .transfer])
                clock.wait(seconds: 1)
                #expect(try await node.users.passes(of: id).map(\.kind) == [.recovery])
                let tail = try await node.reader.tail()
                for pass in dead { try await Self.expectUnknown(pass, at: node) }
                #expect(try await node.reader.tail() == tail)
                clock.wait(seconds: 100_000_000)
                for token in ["newer", "newest"] { #expect(try await node.comeBack(kept, as: token).id == id) }
            }
        }
    }

    @Test func `a replaced token and an operator's revocation end all passes, a return and the end of a session none`()
        async throws
    {
        try await TestNode.withTwo { one, two in
            let (id, token) = try await one.signUp("first")
            let (code, secret) = (try await one.issue(.transfer, to: id), try await one.issue(.recovery, to: id))
            _ = try await two.rotate(token, to: "second")
            #expect(try await one.types(id.passes) == ["PassIssued", "PassIssued", "PassEnded", "PassEnded"])
            try await Self.expectUnknown(code, secret, at: one, two)

            let kept = try await one.issue(.recovery, to: id)
            _ = try await two.comeBack(try await one.issue(.transfer, to: id), as: "third")
            let third = DeviceToken(secret: "third")
            #expect(try await one.users.revoke(third, context: TestNode.context) != nil)
            #expect(try await two.user(of: "third") == nil)
            #expect(try await two.comeBack(kept, as: "fourth").id == id)

            #expect(try await one.users.revoke(DeviceToken(secret: "fourth"), context: TestNode.context) != nil)
            // The user has a pass and no token.
            #expect(try await two.users.hasAccess(id))
            #expect(try await two.revoke(id).wasAlive)
            #expect(try await one.users.hasAccess(id) == false)
            #expect(try await one.revoke(id).wasAlive == false)
            try await Self.expectUnknown(kept, at: one, two)
        }
    }

    @Test func `a secret opens its user's calendar on both servers until it ends, and brings nobody back`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            func opens(_ secret: PassSecret) async throws -> [UserID?] {
                [try await one.users.user(ofCalendar: secret), try await two.users.user(ofCalendar: secret)]
            }
            let link = try await one.issue(.recovery, to: id)
            let dead = [link, try await one.issue(.transfer, to: id), try await one.issue(.calendar, to: id)]
            let secret = try await two.issue(.calendar, to: id)
            for other in dead { #expect(try await opens(other) == [nil, nil]) }
            try await Self.expectUnknown(dead[2], secret, at: one, two)
            await #expect(throws: UserRejection.unknownPass) {
                try await one.users.user(with: secret, as: DeviceToken(secret: "new"))
            }
            _ = try await two.comeBack(link, as: "new")
            #expect(try await opens(secret) == [id, id])
            let ends: [() async throws -> Void] = [
                { _ = try await one.users.endPass(.calendar, of: id, context: TestNode.context) },
                { _ = try await two.rotate(DeviceToken(secret: "new"), to: "newer") }, { _ = try await two.revoke(id) },
                // An erasure that has not reached the passes.
                { _ = try await one.append(UserDomainEvent.erased, to: id.stream, after: 4) },
            ]
            for (number, end) in ends.enumerated() {
                let secret = try await one.issue(.calendar, to: id)
                #expect(try await opens(secret) == [id, id], "\(number)")
                try await end()
                #expect(try await opens(secret) == [nil, nil], "\(number)")
            }
        }
    }

    @Test func `no pass that is issued at the same time outlives a replaced token`() async throws {
        try await TestNode.withTwo { one, two in
            for round in 0..<10 {
                let (id, token) = try await one.signUp("old \(round)")
                async let issued: Void = {
                    do {
                        for _ in 0..<3 { _ = try await two.issue(.recovery, to: id, by: token) }
                    } catch is FailedConditionError {}
                }()
                _ = try await one.rotate(token, to: "new \(round)")
                try await issued
                #expect(try await one.users.passes(of: id).isEmpty, "\(round)")
            }
        }
    }

    @Test func `of a return and a revocation or an erasure at the same time no token is left`() async throws {
        try await TestNode.withTwo { one, two in
            for round in 0..<10 {
                let (id, _) = try await one.signUp("old \(round)")
                let secret = try await one.issue(.recovery, to: id)
                async let back: Void = {
                    do { _ = try await two.comeBack(secret, as: "new \(round)") } catch UserRejection.unknownPass {}
                }()
                if round.isMultiple(of: 2) {
                    _ = try await one.revoke(id)
                } else {
                    _ = try await one.users.commands.handle(TestNode.context) {
                        let version = try await one.reader.newest(of: id.stream)?.envelope.version ?? 0
                        return Decision(UserDomainEvent.erased, to: id.stream, after: version, by: nil)
                    }
                }
                try await back
                #expect(try await one.user(of: "new \(round)") == nil, "\(round)")
                try await Self.expectUnknown(secret, at: one, two)
            }
        }
    }

    @Test func `users whose codes are equal do not come back with them, until only one code is left that has not expired`()
        async throws
    {
        let clock = Clock()
        let random = UUID()
        var changed = clock.dependencies
        changed.randomUUID = { random }
        let dependencies = changed
        try await TestDatabase.with(TestNode.projections) { database in
            try await TestNode.with(database, dependencies: dependencies) { node in
                let (ann, bob) = (try await node.signUp("ann").id, try await node.signUp("bob").id)
                let code = try await node.issue(.transfer, to: ann)
                // The ids of domain events begin with their time.
                clock.wait(seconds: 1)
                #expect(try await node.issue(.transfer, to: bob).text == code.text)
                try await Self.expectUnknown(code, at: node)
                clock.wait(seconds: 599)
                #expect(try await node.comeBack(code, as: "new").id == bob)
            }
        }
    }

    @Test func `a token that a user has or had is refused, and the code stays usable`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, token) = try await one.signUp("first")
            _ = try await one.rotate(token, to: "present")
            _ = try await one.signUp("another's")
            let code = try await one.issue(.transfer, to: id)
            for used in ["first", "present", "another's"] {
                await #expect(throws: UserRejection.usedToken, "\(used)") { try await two.comeBack(code, as: used) }
            }
            await #expect(throws: UserRejection.malformedToken) { try await two.comeBack(code, as: " new") }
            #expect(try await two.comeBack(code, as: "new").id == id)
        }
    }

    @Test func `an erased user does not come back, also before the erasure has reached the passes`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            let secret = try await one.issue(.recovery, to: id)
            _ = try await one.append(UserDomainEvent.erased, to: id.stream, after: 1)
            try await Self.expectUnknown(secret, at: one, two)
            _ = try await one.append(PassDomainEvent.erased, to: id.passes, after: 1)
            try await Self.expectUnknown(secret, at: one, two)
            #expect(try await one.client.query("SELECT FROM passes_v1.passes").isEmpty)
            #expect(try await two.revoke(id).wasAlive == false)
        }
    }

    @Test func `nothing that is recorded of a code to type lets a guess be tested without the pepper`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            let (code, secret) = (try await one.issue(.transfer, to: id), try await one.issue(.recovery, to: id))
            let stored = try await one.client.query(
                "SELECT row_to_json(e)::text FROM log.recorded_events AS e UNION ALL SELECT row_to_json(p)::text FROM passes_v1.passes AS p"
            ).decode(String.self).joined()
            #expect(!stored.contains(code.token.digest.hexadecimal))
            // An imported log knows a kept secret.
            #expect(stored.contains(secret.token.digest.hexadecimal))
            for text in [code.text, secret.text] { #expect(!stored.contains(text)) }
            #expect(try await two.comeBack(code, as: "new").id == id)
        }
    }

    @Test func `a return from the map page has one token for pass and nonce, and tells its user before and afterwards`()
        async throws
    {
        try await TestNode.withTwo { one, two in
            let (id, _) = try await one.signUp("old")
            let code = try await one.issue(.transfer, to: id)
            let token = try await one.users.token(for: code, nonce: "a")
            let other = try await two.users.token(for: code, nonce: "b")
            #expect(try await two.users.token(for: PassSecret(typed: code.text.lowercased()), nonce: "a") == token)
            #expect(try await two.users.token(for: PassSecret(typed: "0000000000"), nonce: "a") != token && other != token)
            let tail = try await one.reader.tail()
            for token in [token, other] { #expect(try await one.users.user(with: code, as: token) == id) }
            #expect(try await one.reader.tail() == tail)
            _ = try await two.comeBack(code, as: token.secret)
            #expect(try await one.users.user(with: code, as: token) == id)
            await #expect(throws: UserRejection.unknownPass) { try await one.users.user(with: code, as: other) }
        }
    }

    @Test func `a return that the log lost is carried out by its repetition, and a lost pass is unknown`() async throws {
        try await TestDatabase.with(TestNode.projections) { database in
            try await TestNode.with(database) { node in
                let (id, old) = try await node.signUp("old")
                let secret = try await node.issue(.recovery, to: id)
                #expect(try await node.comeBack(secret, as: "new").position == 4)
                let device = try await node.users.digest(of: old).hexadecimal
                let user = "UPDATE users_v1.users SET version = 1, device = decode('\(device)', 'hex');"
                try await database.loseEndOfLog(after: 2, script: user)
                #expect(try await node.user(of: "old") == id)
                let again = try await node.comeBack(secret, as: "new")
                #expect((again.id, again.position) == (id, 4))
                #expect(try await node.user(of: "old") == nil)

                try await database.loseEndOfLog(after: 1, script: user + "DELETE FROM passes_v1.passes;")
                try await Self.expectUnknown(secret, at: node)
                let later = try await node.issue(.recovery, to: id)
                #expect(try await node.comeBack(later, as: "new").id == id)
            }
        }
    }
}

import EventStore
import Foundation
import Postgres
import TestDatabase
import Testing

@testable import Users

@Suite struct `The tokens of users on two servers` {
    @Test func `a replaced or revoked token is dead on both servers, and the new one is alive`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, token) = try await one.signUp("old")
            #expect(try await two.user(of: "old") == id)
            let rotated = try await one.rotate(token, to: "new")
            #expect((rotated.id, rotated.token.secret) == (id, "new"))
            await #expect(throws: UserRejection.malformedToken) { try await one.rotate(token, to: " new") }
            for node in [one, two] {
                #expect(try await node.user(of: "old") == nil)
                #expect(try await node.user(of: "new") == id)
            }
            let (first, second) = (try await one.revoke(id), try await two.revoke(id))
            #expect((first.wasAlive, second.wasAlive) == (true, false))
            #expect(second.position == first.position)
            for node in [one, two] {
                #expect(try await node.user(of: "new") == nil)
                #expect(try await node.users.hasAccess(id) == false)
            }
            await #expect(throws: UserRejection.unknownUser) { try await one.revoke(UserID(rawValue: 7)) }
            await #expect(throws: UserRejection.unknownUser) { try await one.users.hasAccess(UserID(rawValue: 7)) }
            let models = ReadModels(projections: [UsersProjection()], client: one.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        }
    }

    @Test func `the user of a replaced token is known as one who moved, until an erasure`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, first) = try await one.signUp("first")
            #expect(try await one.users.movedUser(from: first) == nil)
            let second = try await one.rotate(first, to: "second").token
            for node in [one, two] {
                #expect(try await node.users.movedUser(from: first) == id)
                for other in [second, DeviceToken(secret: "unknown"), DeviceToken(secret: " ")] {
                    #expect(try await node.users.movedUser(from: other) == nil)
                }
            }
            #expect(try await two.revoke(id).wasAlive)
            #expect(try await one.users.movedUser(from: first) == id)
            #expect(try await one.users.movedUser(from: second) == nil)
            _ = try await one.append(UserDomainEvent.erased, to: id.stream, after: 3)
            for token in [first, second] { #expect(try await one.users.movedUser(from: token) == nil) }
        }
    }

    @Test func `a command of a known user needs no lookup, and its append requires the token`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, token) = try await one.signUp("old")
            #expect(!two.users.remembers(token))
            for _ in 1...2 { #expect(try await two.conditions(of: token) == [one.condition(of: token, id)]) }
            #expect(two.users.remembers(token))
            _ = try await one.rotate(token, to: "new")
            // The other server does not know yet. Its append fails, and the lookup finds no user.
            let tail = try await one.reader.tail()
            #expect(try await two.append(of: token) == nil)
            #expect(try await two.append(of: token) == nil)
            #expect(try await one.reader.tail() == tail)
            #expect(try await two.append(of: DeviceToken(secret: "new")) != nil)
            #expect(try await two.append(of: DeviceToken(secret: "new")) != nil)
            #expect(try await one.reader.tail() == tail + 2)
            // The same after a revocation.
            #expect(try await one.revoke(id).wasAlive)
            #expect(try await two.append(of: DeviceToken(secret: "new")) == nil)
            #expect(try await one.reader.tail() == tail + 3)
        }
    }

    @Test func `a user whose stream ends with another event than the token's is looked up for each command`() async throws {
        try await TestNode.withTwo { one, _ in
            let (id, token) = try await one.signUp("old")
            let condition = try await one.condition(of: token, id)
            #expect(try await one.conditions(of: token) == [condition])
            // The command reports a condition that does not hold. The next one is made of the stream's last event.
            #expect(try await one.conditions(of: token, failing: true) == [condition, condition, condition])
            #expect(!one.users.remembers(token))
            #expect(try await one.conditions(of: token) == [condition])
            #expect(!one.users.remembers(token))
        }
    }

    @Test func `a dead token does not sign up again, and a rotation is not repeated with another old token or to a dead one`()
        async throws
    {
        try await TestNode.withTwo { one, two in
            let (_, token) = try await one.signUp("old")
            let (other, _) = try await one.signUp("other")
            _ = try await one.rotate(token, to: "new")
            await #expect(throws: UserRejection.unknownToken) { try await one.rotate(DeviceToken(secret: "never"), to: "new") }
            await #expect(throws: UserRejection.usedToken) { try await one.rotate(DeviceToken(secret: "other"), to: "new") }
            _ = try await one.rotate(DeviceToken(secret: "new"), to: "newer")
            for secret in ["new", "newer"] {
                await #expect(throws: UserRejection.unknownToken) { try await one.rotate(token, to: secret) }
            }
            _ = try await one.revoke(other)
            let tail = try await one.reader.tail()
            for node in [one, two] {
                for dead in ["old", "new", "other"] {
                    await #expect(throws: UserRejection.unknownToken) { try await node.signUp(dead) }
                }
            }
            #expect(try await one.reader.tail() == tail)
            #expect(try await one.signUp("newer").token.secret == "newer")
        }
    }

    @Test func `nothing that is recorded of a short token lets a guess be tested without the pepper`() async throws {
        try await TestNode.withTwo { one, two in
            let (id, token) = try await one.signUp("s3cret")
            _ = try await one.rotate(token, to: "s3cr3t")
            let stored = try await one.client.query(
                "SELECT row_to_json(e)::text FROM log.recorded_events AS e UNION ALL SELECT row_to_json(u)::text FROM users_v1.users AS u"
            ).decode(String.self).joined()
            for secret in ["s3cret", "s3cr3t"] {
                let digest = DeviceToken(secret: secret).digest.hexadecimal
                #expect(!stored.contains(digest))
                #expect(!stored.contains(UUID(derivedFrom: "sign-up \(digest)").uuidString.lowercased()))
            }
            #expect(try await two.user(of: "s3cr3t") == id)
        }
    }

    @Test func `a sign-up and a rotation to its token at the same time give the token to one user`() async throws {
        try await TestNode.withTwo { one, two in
            for round in 0..<10 {
                let (_, token) = try await one.signUp("old \(round)")
                async let signedUp = two.signUp("new \(round)").id
                async let rotated: UserID? = {
                    do { return try await one.rotate(token, to: "new \(round)").id } catch UserRejection.usedToken { return nil }
                }()
                let (first, second) = try await (signedUp, rotated)
                #expect(second == nil || second == first)
                #expect(try await one.user(of: "new \(round)") == first)
            }
        }
    }
}

@Suite struct `Looking up users while another version of the program appends` {
    @Test func `a read model that lacks a revocation is caught up before a token is accepted`() async throws {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { node in
                let (id, token) = try await node.signUp("old")
                _ = try await node.revoke(id)
                let old = try await node.users.digest(of: token).bytea
                // The read model as if another version had appended the revocation.
                _ = try await database.withClient { client in
                    try await client.run([
                        "SELECT log.leave_inline(ARRAY['users_v1'])",
                        "UPDATE log.read_models SET position = position - 1 WHERE schema = 'users_v1'",
                        "UPDATE users_v1.users SET version = 1, device = \(old) WHERE id = \(id.rawValue)",
                    ])
                }
                #expect(try await node.users.user(of: token) == nil)
            }
        }
    }
}

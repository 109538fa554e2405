import Encoding
import EventStore
import Hashing
import Postgres
import TestDatabase
import Testing

@testable import Accounts

private let taken = AccountRejection.taken

@Suite struct `Signing accounts up, in and out` {
    @Test func `the log decides who gets an address, although the read model does not show it`() async throws {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { node in
                let issued = try await node.signUp()
                _ = try await database.withClient { client in
                    try await client.run(["DELETE FROM accounts_v1.account_tokens", "DELETE FROM accounts_v1.accounts"])
                }
                await #expect(throws: taken) { _ = try await node.signUp("Ann@example.org") }
                #expect(try await node.types(of: issued.account) == ["AccountCreated"])
                #expect(try await LogReader(client: node.client).tail() == 1)
            }
        }
    }

    @Test func `of 40 sign-ups of one address on two servers at the same time one succeeds`() async throws {
        try await TestNode.withTwo { first, second in
            let results = try await withThrowingTaskGroup(of: IssuedToken?.self) { group in
                for number in 0..<40 {
                    let node = number % 2 == 0 ? first : second
                    let email = number % 3 == 0 ? "ANN@example.org" : "ann@Example.ORG"
                    group.addTask {
                        do { return try await node.signUp(email) } catch let rejection as AccountRejection {
                            #expect(rejection == taken)
                            return nil
                        } catch is PasswordHasherBusyError {
                            return nil
                        }
                    }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            let issued = results.compactMap(\.self)
            #expect(issued.count == 1)
            #expect(try await LogReader(client: first.client).tail() == 1)
            for node in [first, second] {
                #expect(try await node.accounts.account(of: try #require(issued.first).token) == issued.first?.account)
            }
        }
    }

    @Test func `a sign-out revokes its token on every server and leaves the others`() async throws {
        try await TestNode.withTwo { first, second in
            let kept = try await first.signUp()
            let revoked = try await second.signIn()
            #expect(try await first.signOut(revoked.token) == 3)
            #expect(try await second.accounts.account(of: revoked.token) == nil)
            #expect(try await second.accounts.account(of: kept.token) == kept.account)
            await #expect(throws: AccountRejection.unknownToken) { _ = try await second.signOut(revoked.token) }
            await #expect(throws: AccountRejection.unknownToken) {
                _ = try await second.signOut(AccountToken(secret: "unknown"))
            }
        }
    }

    @Test func `a new password and a revocation of a server of another version count at once`() async throws {
        try await TestNode.with { node in
            let issued = try await node.signUp()
            try await node.appendElsewhere(.passwordChanged(.present(try .numbered(5))), version: 2)
            await #expect(throws: AccountRejection.wrongCredentials) { _ = try await node.signIn() }
            #expect(try await node.types(of: issued.account) == ["AccountCreated", "PasswordChanged"])
            try await node.appendElsewhere(.signedOut(revoked: .present(issued.token.digest)), version: 3)
            #expect(try await node.accounts.account(of: issued.token) == nil)
        }
    }

    @Test func `a sign-in hashes the password again when the parameters have risen, once`() async throws {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { node in _ = try await node.signUp() }
            let risen = Scrypt(logCost: 5, blockSize: 8, parallelism: 1)
            try await TestNode.with(database, parameters: risen) { node in
                let issued = try await node.signIn()
                #expect(try await node.types(of: issued.account) == ["AccountCreated", "SignedIn", "PasswordChanged"])
                #expect(issued.position == 3)
                _ = try await node.signIn()
                await #expect(throws: AccountRejection.wrongCredentials) { _ = try await node.signIn(TestNode.email, "wrong") }
                #expect(try await node.types(of: issued.account).suffix(2) == ["PasswordChanged", "SignedIn"])
                let stored = try await node.client.query("SELECT password FROM accounts_v1.accounts").decode(String.self)
                #expect(stored.allSatisfy { $0.hasPrefix("$scrypt$ln=5,r=8,p=1$") })
            }
            // A server of the earlier release reads the new hash, and does not go back.
            try await TestNode.with(database) { node in
                let issued = try await node.signIn()
                #expect(try await node.types(of: issued.account).last == "SignedIn")
            }
        }
    }

    @Test func `a rebuild gives the same rows as the appends, with revoked tokens left out`() async throws {
        try await TestNode.with { node in
            let first = try await node.signUp()
            _ = try await node.signUp("bob@example.org", name: .null)
            _ = try await node.signIn()
            _ = try await node.signOut(first.token)
            let tokens = try await node.client.query("SELECT FROM accounts_v1.account_tokens")
            #expect(tokens.count == 2)
            let models = ReadModels(projections: [AccountsProjection()], client: node.client, logger: .quiet)
            #expect(try await models.verify { _ in }.allSatisfy { $0.differences.isEmpty })
        }
    }
}

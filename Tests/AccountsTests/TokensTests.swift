import EventStore
import TestDatabase
import Testing

@testable import Accounts

@Suite struct `Ending the tokens of an account` {
    private static let new = "battery staple"

    @Test func `a change of the password ends all other tokens first, and the old password`() async throws {
        try await TestNode.withTwo { first, second in
            var others = [try await first.signUp()]
            for _ in 0..<2 { others.append(try await second.signIn()) }
            let own = try await first.signIn()
            #expect(try await second.changePassword(to: Self.new, by: own.token) == 8)
            #expect(
                try await first.types(of: own.account) == [
                    "AccountCreated", "SignedIn", "SignedIn", "SignedIn", "SignedOut", "SignedOut", "SignedOut",
                    "PasswordChanged",
                ])
            #expect(try await first.accounts.account(of: own.token) == own.account)
            for other in others { #expect(try await first.accounts.account(of: other.token) == nil) }
            await #expect(throws: AccountRejection.unknownToken) {
                try await second.changePassword(Self.new, to: "a third one", by: others[0].token)
            }
            await #expect(throws: AccountRejection.wrongCredentials) { _ = try await first.signIn() }
            for name in ["9", "bob@example.org", "", "ann"] {
                await #expect(throws: AccountRejection.unknownAccount, "\(name)") {
                    _ = try await first.accounts.account(named: name)
                }
            }
            #expect(try await second.signIn(TestNode.email, Self.new).account == own.account)
        }
    }

    @Test func `no token of a sign-in at the same time outlives the old password`() async throws {
        try await TestNode.with { node in
            let own = try await node.signUp()
            let issued = try await withThrowingTaskGroup(of: IssuedToken?.self) { group in
                for _ in 0..<8 {
                    group.addTask {
                        do { return try await node.signIn() } catch AccountRejection.wrongCredentials { return nil }
                    }
                }
                group.addTask {
                    try await node.changePassword(to: Self.new, by: own.token)
                    return nil
                }
                return try await group.reduce(into: [] as [IssuedToken]) { if let issued = $1 { $0.append(issued) } }
            }
            for one in issued { #expect(try await node.accounts.account(of: one.token) == nil) }
            #expect(try await node.types(of: own.account).last == "PasswordChanged")
        }
    }
}

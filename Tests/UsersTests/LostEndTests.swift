import EventStore
import TestDatabase
import Testing

@testable import Users

@Suite struct `Looking up users after the log lost its end` {
    @Test func `a lost user's token does not find the new owner of the id on another server`() async throws {
        try await TestDatabase.with { database in
            try await TestNode.with(database) { node in
                try await TestNode.with(database) { other in
                    let first = try await node.signUp()
                    #expect(try await node.users.user(of: first.token) == first.id)
                    var second = first
                    // The next user to sign up gets the first id again. If the server notices the loss while it fetches an id, it fetches
                    // another one.
                    for _ in 0..<10 where second.id != first.id || second.token == first.token {
                        let script = "DELETE FROM users_v1.users; SELECT setval('log.user_ids', 1, false);"
                        try await database.loseEndOfLog(after: 0, script: script)
                        second = try await other.signUp()
                    }
                    #expect(second.id == first.id)
                    #expect(try await node.users.user(of: first.token) == nil)
                    #expect(try await node.users.user(of: second.token) == second.id)
                }
            }
        }
    }
}

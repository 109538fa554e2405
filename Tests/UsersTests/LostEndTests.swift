import EventStore
import Postgres
import TestDatabase
import Testing

@testable import Users

@Suite struct `Looking up users after the log lost its end` {
    /// The users module of one server, with the services that keep its cache in step with the log.
    private struct Node: Sendable {
        var users: UsersModule
        var history: LogHistory

        func signUp() async throws -> (id: UserID, token: DeviceToken) {
            let (id, token, _) = try await users.signUp(with: nil, context: CommandContext(requestID: "test"))
            return (id, token)
        }
    }

    private static func withNode(_ database: TestDatabase, _ body: @escaping @Sendable (Node) async throws -> Void) async throws {
        try await database.withClient(role: "humon_app", connections: 4) { client in
            try await ReadModels(projections: [UsersProjection()], client: client, logger: .quiet).prepare()
            let notifier = LogNotifier(client: client, listens: false, pollSeconds: 0.05, logger: .quiet)
            let log = EventLog(client: client, projections: [UsersProjection()], notifier: notifier, logger: .quiet)
            let users = UsersModule(ModuleContext(log: log, database: client, dependencies: .system))
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { await notifier.run() }
                group.addTask { await log.run() }
                defer { group.cancelAll() }
                try await eventually { log.history.confirmed != nil }
                try await body(Node(users: users, history: log.history))
            }
        }
    }

    /// The next user to sign up gets the first id again.
    private static func loseAll(_ database: TestDatabase) async throws {
        try await database.loseEndOfLog(
            after: 0, script: "DELETE FROM users_v1.users; SELECT setval('log.user_ids', 1, false);")
    }

    @Test func `a token lookup uses the cache alone while the log keeps its end`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                let first = try await node.signUp()
                _ = try await database.withClient { try await $0.query("DELETE FROM users_v1.users") }
                #expect(try await node.users.user(of: first.token) == first.id)
            }
        }
    }

    @Test func `a lost user's token does not find the new owner of the id on the same server`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                let first = try await node.signUp()
                try await Self.loseAll(database)
                // Until the node notices the loss, it may use an id that it took before.
                var second = try await node.signUp()
                for _ in 0..<10 where second.id != first.id { second = try await node.signUp() }
                #expect(second.id == first.id)
                #expect(try await node.users.user(of: first.token) == nil)
                #expect(try await node.users.user(of: second.token) == second.id)
            }
        }
    }

    @Test func `a lost user's token does not find the new owner of the id on another server`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                try await Self.withNode(database) { other in
                    let first = try await node.signUp()
                    let generation = node.history.generation
                    try await Self.loseAll(database)
                    let second = try await other.signUp()
                    #expect(second.id == first.id)
                    // As many events as before are recorded again, and one more.
                    _ = try await other.signUp()
                    try await eventually { node.history.generation > generation }
                    #expect(try await node.users.user(of: first.token) == nil)
                    #expect(try await node.users.user(of: second.token) == second.id)
                }
            }
        }
    }

    @Test func `a looked-up token leaves the cache when another server loses the end of the log`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                try await Self.withNode(database) { other in
                    let first = try await other.signUp()
                    // The user signed up elsewhere: this server's position in the log comes from the lookup alone.
                    #expect(try await node.users.user(of: first.token) == first.id)
                    let generation = node.history.generation
                    try await Self.loseAll(database)
                    _ = try await other.signUp()
                    try await eventually { node.history.generation > generation }
                    #expect(try await node.users.user(of: first.token) == nil)
                }
            }
        }
    }
}

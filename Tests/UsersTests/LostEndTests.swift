import EventStore
import Postgres
import TestDatabase
import Testing

@testable import Users

@Suite struct `The users of a log that loses its end` {
    /// The users of one server, with what keeps them in step.
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
                group.addTask { try await notifier.run() }
                group.addTask { try await log.run() }
                defer { group.cancelAll() }
                try await eventually { log.history.confirmed != nil }
                try await body(Node(users: users, history: log.history))
            }
        }
    }

    /// The next to sign up gets the first id again.
    private static func loseAll(_ database: TestDatabase) async throws {
        try await database.loseEndOfLog(
            after: 0, script: "DELETE FROM users_v1.users; SELECT setval('log.user_ids', 1, false);")
    }

    @Test func `are known by token without a look into the database, as long as the log is the same`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                let first = try await node.signUp()
                _ = try await database.withClient { try await $0.query("DELETE FROM users_v1.users") }
                #expect(try await node.users.user(of: first.token) == first.id)
            }
        }
    }

    @Test func `are not taken for those who got their ids since, on the server that gave them`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                let first = try await node.signUp()
                try await Self.loseAll(database)
                let second = try await node.signUp()
                #expect(second.id == first.id)
                #expect(try await node.users.user(of: first.token) == nil)
                #expect(try await node.users.user(of: second.token) == second.id)
            }
        }
    }

    @Test func `are not taken for those who got their ids since, on another server`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                try await Self.withNode(database) { other in
                    let first = try await node.signUp()
                    let generation = node.history.generation
                    try await Self.loseAll(database)
                    let second = try await other.signUp()
                    #expect(second.id == first.id)
                    // As much as before is recorded again, and more.
                    _ = try await other.signUp()
                    try await eventually { node.history.generation > generation }
                    #expect(try await node.users.user(of: first.token) == nil)
                    #expect(try await node.users.user(of: second.token) == second.id)
                }
            }
        }
    }

    @Test func `are not taken from the cache where the token was looked up and the loss is another server's`() async throws {
        try await TestDatabase.with { database in
            try await Self.withNode(database) { node in
                try await Self.withNode(database) { other in
                    let first = try await other.signUp()
                    // Not signed up here: what this server has seen of the log comes from the look-up alone.
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

import Accounts
import Encoding
import EventStore
import Synchronization
import TestDatabase

@testable import Tasks

/// The clock of all servers: no two moments are equal.
private let ticks = Atomic<Int64>(1_379_289_600_000)

/// The tasks module of one server.
extension TestNode where Module == TasksModule {
    var tasks: TasksModule { module }

    static func with(_ database: TestDatabase, _ body: @escaping @Sendable (TestNode) async throws -> Void) async throws {
        var dependencies = Dependencies.system
        dependencies.now = { Timestamp(milliseconds: ticks.add(1, ordering: .relaxed).newValue) }
        try await database.prepare([TasksProjection()])
        try await run(
            database, projections: [TasksProjection()], dependencies: dependencies, listens: false,
            compose: { (TasksModule($0), []) }, body)
    }

    static func with(_ body: @escaping @Sendable (TestNode) async throws -> Void) async throws {
        try await TestDatabase.with([TasksProjection()]) { database in try await with(database, body) }
    }

    func create(
        _ title: String, completed: JSON = "0", by account: AccountID = ann, key: IdempotencyKey? = nil
    ) async throws -> AccountTask {
        let new = try NewTask(["title": .string(title), "completed": completed])
        return try await tasks.create(new, by: account, context: CommandContext(requestID: "test", key: key)).task
    }

    @discardableResult
    func update(
        _ id: TaskID, _ change: JSON, by account: AccountID = ann, key: IdempotencyKey? = nil
    ) async throws -> (task: AccountTask, position: Int64) {
        try await tasks.update(
            id, try TaskChange(change), by: account, context: CommandContext(requestID: "test", key: key))
    }

    func delete(_ id: TaskID, by account: AccountID = ann, key: IdempotencyKey? = nil) async throws -> Int64 {
        try await tasks.delete(id, by: account, context: CommandContext(requestID: "test", key: key))
    }

    func titles(_ account: AccountID = ann) async throws -> [String] { try await tasks.tasks(of: account).map(\.title) }
}

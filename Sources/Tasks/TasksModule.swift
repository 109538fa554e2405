public import Accounts
public import EventStore
internal import Foundation
internal import Postgres

extension StoredModule {
    /// What people with accounts want to do.
    package static let tasks = StoredModule(
        "tasks", domainEvents: [TaskDomainEvent.self], projections: [TasksProjection()], idSequences: [TasksModule.ids])
}

/// Creates, changes, deletes and lists tasks.
public struct TasksModule: Sendable {
    static let ids = IDSequence(category: TaskDomainEvent.category, name: "log.task_ids")
    /// The largest number of tasks in a list: twice the rule's limit, which requests at the same moment may exceed.
    private static let listLimit = 2 * taskLimit

    /// All tasks of an account, deleted ones too.
    static let ofAccount = PersonalStreams(of: AccountDomainEvent.category) { account, database in
        try await StateReader(of: TasksProjection(), client: database).rows(
            """
            SELECT id FROM \(identifier: TasksProjection.schema).tasks WHERE account_id = \(account) ORDER BY created_at, id
            """
        ).decode(Int64.self).map { PersonalStream(TaskID(rawValue: $0).stream, endsWith: TaskDomainEvent.erased) }
    }

    private let database: PostgresClient
    private let commands: CommandHandler
    private let ids: IDAllocator

    package init(_ composition: Composition) {
        database = composition.database
        commands = CommandHandler(composition, state: StateReader(of: TasksProjection(), client: database))
        ids = IDAllocator(Self.ids, client: database)
    }

    /// - Returns: the new task, and the position at which it is recorded
    /// - Throws: ``TaskRejection``, `PostgresError`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func create(_ new: NewTask, by account: AccountID, context: CommandContext) async throws -> (
        task: AccountTask, position: Int64
    ) {
        let place = try await commands.handle(context, by: account.stream) {
            let events = try decideCreation(of: new, by: account, count: try await count(account))
            // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
            return decision(events, on: TaskID(rawValue: try await ids.next()), after: 0)
        }.place
        guard let id = TaskID(stream: place.stream) else {
            throw FormatError("a new task is recorded in the stream \(place.stream)")
        }
        // The task as it was when it was created, so that a repetition gets the first response.
        let task = AccountTask(
            id: id, version: place.version, account: account, title: new.title, isCompleted: new.isCompleted)
        return (task, place.position)
    }

    /// Changes title and state, each by a domain event of its own, both or none. A repetition changes nothing more.
    /// - Returns: the changed task, and a position from which on the change is in the log. A repetition under a key gets the task as it
    ///   was after the first attempt
    /// - Throws: ``TaskRejection``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func update(
        _ id: TaskID, _ change: TaskChange, by account: AccountID, context: CommandContext
    ) async throws -> (task: AccountTask, position: Int64) {
        var changed: AccountTask?
        let place = try await commands.handle(context, by: account.stream) {
            let task = try await task(id)
            let events = try decide(change, of: task, by: account)
            changed = events.reduce(task) { $0?.applying($1) }
            return decision(events, on: id, after: task?.version ?? 0)
        }.place
        // A repetition was decided on a later version, or rejected.
        if context.key != nil, changed?.version != place.version {
            changed = try await recordedTask(id, at: place.version)
        }
        // Without a key, a task that does not exist was rejected.
        guard let changed else { throw TaskRejection.notFound }
        return (changed, place.position)
    }

    /// - Returns: the position at which the deletion is recorded
    /// - Throws: ``TaskRejection``, `ReadModelError.behind`, and the errors of `CommandHandler.handle(_:by:_:)`
    public func delete(_ id: TaskID, by account: AccountID, context: CommandContext) async throws -> Int64 {
        try await commands.handle(context, by: account.stream) {
            let task = try await task(id)
            return decision([try decideDeletion(of: task, by: account)], on: id, after: task?.version ?? 0)
        }.place.position
    }

    /// The actor of a decision is a user, and accounts are no users. `TaskCreated` names the account.
    private func decision(_ events: [TaskDomainEvent], on id: TaskID, after version: Int32) -> Decision {
        Decision(events, to: id.stream, after: version, by: nil)
    }

    /// The tasks of an account, in the order of their creation.
    /// - Throws: `PostgresError`
    public func tasks(of account: AccountID) async throws -> [AccountTask] {
        try await tasks("account_id = \(account.rawValue) ORDER BY created_at, id LIMIT \(Self.listLimit)")
    }

    private func task(_ id: TaskID) async throws -> AccountTask? { try await tasks("id = \(id.rawValue)").first }

    /// The task as the log has it at a version of its stream; `nil` if it was deleted up to there, or erased.
    private func recordedTask(_ id: TaskID, at version: Int32) async throws -> AccountTask? {
        let reader = LogReader(client: database)
        var task: AccountTask?
        // The last of each kind makes the task, however many the stream has.
        for types in [["TaskCreated"], ["TaskRenamed"], ["TaskCompleted", "TaskReopened"], ["TaskDeleted"]] {
            guard let event = try await reader.newest(of: id.stream, types: types, through: version) else { continue }
            switch try event.decoded(as: TaskDomainEvent.self).event {
            case .created(_, .erased): return nil
            case .created(let account, .present(let title)):
                task = AccountTask(id: id, version: 1, account: account, title: title, isCompleted: false)
            case let change: task = task?.applying(change)
            }
        }
        task?.version = version
        return task
    }

    private func tasks(_ condition: SQL) async throws -> [AccountTask] {
        try await database.query(
            """
            SELECT \(TasksProjection.columns) FROM \(identifier: TasksProjection.schema).tasks
            WHERE title IS NOT NULL AND \(condition)
            """
        ).map { try AccountTask($0) }
    }

    private func count(_ account: AccountID) async throws -> Int64 {
        try await database.query(
            """
            SELECT count(*) FROM \(identifier: TasksProjection.schema).tasks
            WHERE account_id = \(account.rawValue) AND title IS NOT NULL
            """
        ).decode(Int64.self)[0]
    }
}

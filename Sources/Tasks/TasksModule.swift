public import Accounts
public import EventStore
internal import Foundation
internal import Postgres

extension Module {
    /// What people with accounts want to do.
    package static let tasks = Module(
        "tasks", domainEvents: [TaskDomainEvent.self], projections: [TasksProjection()], idSequences: [TasksModule.ids])
}

/// Creates, changes, deletes and lists tasks.
public struct TasksModule: Sendable {
    static let ids = IDSequence(category: TaskDomainEvent.category, name: "log.task_ids")
    /// The largest number of tasks in a list: twice the rule's limit, which requests at the same moment may exceed.
    private static let listLimit = 2 * taskLimit

    private let log: EventLog
    private let database: PostgresClient
    private let ids: IDAllocator
    private let idempotency: IdempotencyStore
    private let dependencies: Dependencies
    private let retry: ConflictRetry
    private let state: CommandState

    package init(_ context: ModuleContext) {
        log = context.log
        database = context.database
        dependencies = context.dependencies
        retry = ConflictRetry(dependencies: dependencies)
        state = CommandState(of: TasksProjection(), client: database)
        ids = IDAllocator(sequence: Self.ids.name, client: database, history: log.history)
        idempotency = IdempotencyStore(client: database)
    }

    /// - Returns: the new task, and the position at which it is recorded
    /// - Throws: ``TaskRejection``, `KeyReusedError`, `StreamContended`, `PostgresError`, `EventLogError`, `CancellationError`
    public func create(_ command: CreateTask, context: CommandContext) async throws -> (task: AccountTask, position: Int64) {
        let key = context.recordKey(actor: command.account.stream)
        let appended = try await idempotency.idempotently(key) {
            let event = TaskDomainEvent.created(try decide(command, count: try await count(command.account)))
            // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
            return try await retry.run { _ in
                try await append(event, to: TaskID(rawValue: try await ids.next()), version: 0, key: key, context: context)
            }
        }
        return try created(command, appended)
    }

    /// The task as it was when it was created, so that a repetition gets the first response.
    private func created(_ command: CreateTask, _ appended: AppendResult) throws -> (task: AccountTask, position: Int64) {
        guard let id = TaskID(stream: appended.stream) else {
            throw FormatError("a new task is recorded in the stream \(appended.stream)")
        }
        let task = AccountTask(id: id, version: 1, account: command.account, title: command.title.text, isCompleted: false)
        return (task, appended.position)
    }

    /// Changes title and state, each by a domain event of its own. A repetition changes nothing more.
    /// - Returns: the changed task, and a position from which on the change is in the log
    /// - Throws: ``TaskRejection``, `StreamContended`, `ReadModelError.behind`, `PostgresError`, `EventLogError`, `CancellationError`
    public func update(_ command: UpdateTask, context: CommandContext) async throws -> (task: AccountTask, position: Int64) {
        try await retry.run { conflict in
            var task = try await task(command.id, atLeast: conflict?.actual ?? 0)
            var position: Int64?
            for event in try decide(command, on: task) {
                guard let before = task else { throw TaskRejection.notFound }
                position = try await append(event, to: command.id, version: before.version, context: context).position
                task = before.applying(event)
            }
            guard let task else { throw TaskRejection.notFound }
            if let position { return (task, position) }
            return (task, try await LogReader(client: database).tail())
        }
    }

    /// - Returns: the position at which the deletion is recorded
    /// - Throws: ``TaskRejection``, `StreamContended`, `ReadModelError.behind`, `PostgresError`, `EventLogError`, `CancellationError`
    public func delete(_ command: DeleteTask, context: CommandContext) async throws -> Int64 {
        try await retry.run { conflict in
            let task = try await task(command.id, atLeast: conflict?.actual ?? 0)
            let event = try decide(command, on: task)
            return try await append(event, to: command.id, version: task?.version ?? 0, context: context)
        }.position
    }

    /// The tasks of an account, in the order of their creation.
    /// - Throws: `PostgresError`
    public func tasks(of account: AccountID) async throws -> [AccountTask] {
        try await tasks("account_id = \(account.rawValue) ORDER BY created_at, id LIMIT \(Self.listLimit)")
    }

    private func task(_ id: TaskID, atLeast version: Int32) async throws -> AccountTask? {
        try await state.read(atLeast: version, version: \.version) { try await tasks("id = \(id.rawValue)").first }
    }

    private func tasks(_ condition: SQL) async throws -> [AccountTask] {
        try await database.query(
            """
            SELECT id, version, account_id, title, is_completed FROM \(identifier: TasksProjection.schema).tasks
            WHERE \(condition)
            """
        ).decode((Int64, Int32, Int64, String, Bool).self).map { id, version, account, title, isCompleted in
            AccountTask(
                id: TaskID(rawValue: id), version: version, account: AccountID(rawValue: account), title: title,
                isCompleted: isCompleted)
        }
    }

    private func count(_ account: AccountID) async throws -> Int64 {
        try await database.query(
            "SELECT count(*) FROM \(identifier: TasksProjection.schema).tasks WHERE account_id = \(account.rawValue)"
        ).decode(Int64.self)[0]
    }

    private func append(
        _ event: TaskDomainEvent, to id: TaskID, version: Int32, key: IdempotencyRecordKey? = nil, context: CommandContext
    ) async throws -> AppendResult {
        try await log.append(
            AppendRequest(
                id: key?.id ?? dependencies.newDomainEventID, requestHash: key?.requestHash, stream: id.stream,
                expectedVersion: version, recordedAt: dependencies.now(),
                // The actor is a user's id, and accounts are no users. `TaskCreated` names the account.
                metadata: context.metadata(actor: nil), event: event))
    }
}

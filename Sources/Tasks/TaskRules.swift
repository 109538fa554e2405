internal import Accounts
public import Encoding
public import EventStore

extension [FieldError] {
    /// Reads a title, of 255 Unicode scalars at most.
    fileprivate mutating func title(_ field: JSON?) -> String? {
        text(field, "title", limit: 255, isRequired: true, at: "/task/title")
    }
}

/// The fields of a new task. It is open unless the client says otherwise.
public struct NewTask: Sendable, Hashable {
    var title: String
    var isCompleted = false

    /// - Parameter fields: the fields as the client sent them; `nil` if it sent none
    /// - Throws: ``TaskRejection/invalid(errors:)`` with all validation errors
    public init(_ fields: JSON?) throws(TaskRejection) {
        var errors: [FieldError] = []
        let title = errors.title(fields?["title"])
        if let field = fields?["completed"], field != .null {
            isCompleted = TaskChange.isCompleted(field, &errors) ?? false
        }
        guard errors.isEmpty, let title else { throw .invalid(errors: errors) }
        self.title = title
    }
}

/// A change of some fields of a task: an absent field stays as it is.
public struct TaskChange: Sendable, Hashable {
    var title: String?
    var isCompleted: Bool?

    /// - Parameter fields: the fields as the client sent them; `nil` if it sent none
    /// - Throws: ``TaskRejection/invalid(errors:)`` with all validation errors
    public init(_ fields: JSON?) throws(TaskRejection) {
        var errors: [FieldError] = []
        title = fields?["title"].flatMap { errors.title($0) }
        isCompleted = fields?["completed"].flatMap { Self.isCompleted($0, &errors) }
        guard errors.isEmpty else { throw .invalid(errors: errors) }
    }

    /// Adds the validation error of the field.
    fileprivate static func isCompleted(_ field: JSON, _ errors: inout [FieldError]) -> Bool? {
        switch field {
        case .bool(let truth): return truth
        // Forms have no truth values: clients send 1 and 0.
        case .number("1"), .string("1"), .string("true"): return true
        case .number("0"), .string("0"), .string("false"): return false
        case .null, .number, .string, .array, .object: break
        }
        errors.append(FieldError("completed", .notABoolean, "is not true or false", at: "/task/completed"))
        return nil
    }
}

/// Why a command on tasks is refused.
public enum TaskRejection: Rejection, Hashable {
    case invalid(errors: [FieldError])
    /// The task does not exist, or belongs to another account.
    case notFound

    public var kind: RejectionKind {
        switch self {
        case .invalid(let errors): .invalid(errors: errors)
        case .notFound: .notFound
        }
    }
}

/// The largest number of an account's tasks. Requests at the same moment may exceed it by a few.
let taskLimit: Int64 = 1_000

/// A task that is completed from the start is created and completed in one append.
/// - Parameter count: the number of the account's tasks
/// - Throws: ``TaskRejection/invalid(errors:)`` if the account has too many
func decideCreation(of new: NewTask, by account: AccountID, count: Int64) throws(TaskRejection) -> [TaskDomainEvent] {
    guard count < taskLimit else {
        throw .invalid(errors: [FieldError("tasks", .tooMany, "are too many (maximum is \(taskLimit))", at: "/task")])
    }
    let created = TaskDomainEvent.created(account: account, title: .present(new.title))
    return new.isCompleted ? [created, .completed] : [created]
}

/// Returns what the change needs; nothing if the task is as the account wants it.
/// - Throws: ``TaskRejection/notFound``
func decide(_ change: TaskChange, of task: AccountTask?, by account: AccountID) throws(TaskRejection) -> [TaskDomainEvent] {
    let task = try task.owned(by: account)
    var events: [TaskDomainEvent] = []
    if let title = change.title, !title.hasSameBytes(as: task.title) { events.append(.renamed(title: .present(title))) }
    if let isCompleted = change.isCompleted, isCompleted != task.isCompleted {
        events.append(isCompleted ? .completed : .reopened)
    }
    return events
}

/// - Throws: ``TaskRejection/notFound``
func decideDeletion(of task: AccountTask?, by account: AccountID) throws(TaskRejection) -> TaskDomainEvent {
    _ = try task.owned(by: account)
    return .deleted
}

extension AccountTask? {
    /// Checks that the task is there and that the account owns it.
    /// - Throws: ``TaskRejection/notFound``
    fileprivate func owned(by account: AccountID) throws(TaskRejection) -> AccountTask {
        guard let self, self.account == account else { throw .notFound }
        return self
    }
}

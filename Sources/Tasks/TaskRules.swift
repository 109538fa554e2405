internal import Accounts
public import Encoding
public import EventStore

/// The title of a task, as the rules allow it.
public struct TaskTitle: Sendable, Hashable {
    /// The longest title, in Unicode scalars.
    static let limit = 255
    private static let pointer = "/task/title"

    let text: String

    private init(text: String) { self.text = text }

    /// Adds the validation errors of the field.
    fileprivate static func read(_ field: JSON, _ errors: inout [FieldError]) -> TaskTitle? {
        switch field {
        case .null: errors.append(.blank("title", at: pointer))
        case .string(let text) where text.isBlank:
            errors.append(.blank("title", at: pointer))
        case .string(let text):
            if text.unicodeScalars.count > limit {
                errors.append(.tooLong("title", maximum: limit, "characters", at: pointer))
            }
            if text.utf8.contains(0) { errors.append(.nullCharacter("title", at: pointer)) }
            return TaskTitle(text: text)
        case .bool, .number, .array, .object: errors.append(.notAText("title", at: pointer))
        }
        return nil
    }
}

/// The fields of a new task. It is open unless the client says otherwise.
public struct NewTask: Sendable, Hashable {
    var title: TaskTitle
    var isCompleted = false

    /// - Parameter fields: the fields as the client sent them; `nil` if it sent none
    /// - Throws: ``TaskRejection/invalid(errors:)`` with all validation errors
    public init(_ fields: JSON?) throws(TaskRejection) {
        var errors: [FieldError] = []
        let title = TaskTitle.read(fields?["title"] ?? .null, &errors)
        if let field = fields?["completed"], field != .null {
            isCompleted = TaskChange.isCompleted(field, &errors) ?? false
        }
        guard errors.isEmpty, let title else { throw .invalid(errors: errors) }
        self.title = title
    }
}

/// A change of some fields of a task: an absent field stays as it is.
public struct TaskChange: Sendable, Hashable {
    var title: TaskTitle?
    var isCompleted: Bool?

    /// - Parameter fields: the fields as the client sent them; `nil` if it sent none
    /// - Throws: ``TaskRejection/invalid(errors:)`` with all validation errors
    public init(_ fields: JSON?) throws(TaskRejection) {
        var errors: [FieldError] = []
        title = fields?["title"].flatMap { TaskTitle.read($0, &errors) }
        isCompleted = fields?["completed"].flatMap { Self.isCompleted($0, &errors) }
        guard errors.isEmpty else { throw .invalid(errors: errors) }
    }

    /// Adds the validation error of the field.
    fileprivate static func isCompleted(_ field: JSON, _ errors: inout [FieldError]) -> Bool? {
        let isCompleted = truth(field)
        if isCompleted == nil {
            errors.append(FieldError("completed", .notABoolean, "is not true or false", at: "/task/completed"))
        }
        return isCompleted
    }

    /// Forms have no truth values: clients send 1 and 0.
    private static func truth(_ field: JSON) -> Bool? {
        switch field {
        case .bool(let truth): truth
        case .number("1"), .string("1"), .string("true"): true
        case .number("0"), .string("0"), .string("false"): false
        case .null, .number, .string, .array, .object: nil
        }
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
    let created = TaskDomainEvent.created(account: account, title: .present(new.title.text))
    return new.isCompleted ? [created, .completed] : [created]
}

/// Returns what the change needs; nothing if the task is as the account wants it.
/// - Throws: ``TaskRejection/notFound``
func decide(_ change: TaskChange, of task: AccountTask?, by account: AccountID) throws(TaskRejection) -> [TaskDomainEvent] {
    let task = try task.owned(by: account)
    var events: [TaskDomainEvent] = []
    if let title = change.title?.text, !title.hasSameBytes(as: task.title) { events.append(.renamed(title: .present(title))) }
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

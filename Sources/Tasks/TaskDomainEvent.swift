package import Accounts
package import Encoding
package import EventStore

/// A person wrote a task down.
package struct TaskCreated: Sendable, Hashable {
    package var account: AccountID
    package var title: String
}

/// The task has another title.
package struct TaskRenamed: Sendable, Hashable {
    package var title: String
}

/// The domain events of tasks.
package enum TaskDomainEvent: DomainEvent, Hashable {
    case created(TaskCreated)
    case renamed(TaskRenamed)
    case completed
    case reopened
    case deleted

    package static let category = "task"
    package static let storedTypes = [
        StoredType("TaskCreated"), StoredType("TaskRenamed"), StoredType("TaskCompleted"), StoredType("TaskReopened"),
        StoredType("TaskDeleted"),
    ]
    package static let personalFields: Set<String> = ["title"]

    package init(type: String, data: JSON) throws {
        switch type {
        case "TaskCreated":
            let account = AccountID(rawValue: try data.stored("account") { $0.storedID })
            self = .created(TaskCreated(account: account, title: try data.stored("title") { $0.storedTitle }))
        case "TaskRenamed": self = .renamed(TaskRenamed(title: try data.stored("title") { $0.storedTitle }))
        case "TaskCompleted": self = .completed
        case "TaskReopened": self = .reopened
        case "TaskDeleted": self = .deleted
        default: throw FormatError("no stored type \(type)")
        }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard TaskID(stream: stream) != nil else { throw FormatError("the stream is not named after a task's id") }
        switch self {
        case .created: guard version == 1 else { throw FormatError("a task is created at version 1 only") }
        case .renamed, .completed, .reopened, .deleted:
            guard version > 1 else { throw FormatError("a task is created before it is changed") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let created):
            ("TaskCreated", ["account": JSON(created.account.rawValue), "title": .string(created.title)])
        case .renamed(let renamed): ("TaskRenamed", ["title": .string(renamed.title)])
        case .completed: ("TaskCompleted", [:])
        case .reopened: ("TaskReopened", [:])
        case .deleted: ("TaskDeleted", [:])
        }
    }

    package var state: JSON {
        switch self {
        case .created, .renamed: stored.data
        case .completed: ["completed": .bool(true)]
        case .reopened: ["completed": .bool(false)]
        case .deleted: ["deleted": .bool(true)]
        }
    }
}

extension JSON {
    /// A text that PostgreSQL can hold.
    fileprivate var storedTitle: String? { storedString.flatMap { $0.utf8.contains(0) ? nil : $0 } }
}

extension TaskID {
    package var stream: StreamName { StreamName(category: TaskDomainEvent.category, key: String(rawValue)) }

    /// The task of a stream; `nil` for any other stream, and for a key that ``stream`` does not write.
    package init?(stream: StreamName) {
        guard stream.category == TaskDomainEvent.category, let number = stream.keyAsID else { return nil }
        self.init(rawValue: number)
    }
}

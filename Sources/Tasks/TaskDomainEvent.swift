package import Accounts
package import Encoding
package import EventStore

/// The domain events of tasks.
package enum TaskDomainEvent: DomainEvent, Hashable {
    /// A person wrote a task down.
    case created(account: AccountID, title: Personal<String>)
    case renamed(title: Personal<String>)
    case completed
    case reopened
    case deleted
    /// The account was erased. It is the last domain event of the stream.
    case erased

    package static let category = TaskID.category
    package static let storedTypes = [
        StoredType("TaskCreated"), StoredType("TaskRenamed"), StoredType("TaskCompleted"), StoredType("TaskReopened"),
        StoredType("TaskDeleted"), StoredType("TaskErased"),
    ]
    package static let personal = PersonalMembers(["title"], of: TasksModule.ofAccount)

    package init(type: String, content: EventContent) throws {
        switch type {
        case "TaskCreated":
            let account = AccountID(rawValue: try content.facts.stored("account") { $0.storedID })
            self = .created(account: account, title: try Self.title(content))
        case "TaskRenamed": self = .renamed(title: try Self.title(content))
        case "TaskCompleted": self = .completed
        case "TaskReopened": self = .reopened
        case "TaskDeleted": self = .deleted
        case "TaskErased": self = .erased
        default: throw FormatError("no stored type \(type)")
        }
    }

    private static func title(_ content: EventContent) throws -> Personal<String> {
        try content.readPersonal { try $0.stored("title") { $0.storedTitle } }
    }

    package func check(in stream: StreamName, version: Int32) throws {
        guard TaskID(stream: stream) != nil else { throw FormatError("the stream is not named after a task's id") }
        switch self {
        case .created: guard version == 1 else { throw FormatError("a task is created at version 1 only") }
        case .renamed, .completed, .reopened, .deleted, .erased:
            guard version > 1 else { throw FormatError("a task is created before it is changed") }
        }
    }

    package var stored: (type: String, data: JSON) {
        switch self {
        case .created(let account, let title):
            ("TaskCreated", Self.data([.init(name: "account", value: JSON(account.rawValue))], title))
        case .renamed(let title): ("TaskRenamed", Self.data([], title))
        case .completed: ("TaskCompleted", [:])
        case .reopened: ("TaskReopened", [:])
        case .deleted: ("TaskDeleted", [:])
        case .erased: ("TaskErased", [:])
        }
    }

    private static func data(_ facts: [JSONObject.Member], _ title: Personal<String>) -> JSON {
        switch title {
        case .present(let title): .object(JSONObject(members: facts + [.init(name: "title", value: .string(title))]))
        case .erased: .object(JSONObject(members: facts))
        }
    }

    package var state: JSON {
        switch self {
        case .created, .renamed: stored.data
        case .completed: ["completed": .bool(true)]
        case .reopened: ["completed": .bool(false)]
        case .deleted: ["deleted": .bool(true)]
        case .erased: ["erased": .bool(true)]
        }
    }
}

extension JSON {
    /// A text that PostgreSQL can hold.
    fileprivate var storedTitle: String? { storedString.flatMap { $0.utf8.contains(0) ? nil : $0 } }
}

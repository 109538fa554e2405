public import Accounts
public import EventStore

/// The id of a task.
public struct TaskID: StreamID {
    public static let category = "task"

    public var rawValue: Int64
    public init(rawValue: Int64) { self.rawValue = rawValue }
}

/// A thing that a person wants to do. Only its account knows that it exists. (`Task` is Swift's word.)
public struct AccountTask: Sendable, Hashable {
    public var id: TaskID
    /// The version of the task's stream.
    public var version: Int32
    public var account: AccountID
    public var title: String
    public var isCompleted: Bool
}

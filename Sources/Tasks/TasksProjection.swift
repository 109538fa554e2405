internal import Accounts
internal import Encoding
internal import EventStore
internal import Postgres

/// The read model of tasks, without the deleted ones.
struct TasksProjection: Projection {
    static let name = "tasks"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["title"]

    struct Row: Sendable, Hashable {
        var id: TaskID
        var version: Int32
        /// `nil` leaves account and time as they are: only `TaskCreated` has them.
        var account: AccountID?
        var createdAt: Timestamp?
        /// `nil` leaves the title as it is.
        var title: String?
        /// `nil` leaves the state as it is.
        var isCompleted: Bool?
    }

    struct Changes: Sendable, Hashable {
        /// One row for each task, by id.
        var created: [Row] = []
        var changed: [Row] = []
        /// Tasks that earlier batches created.
        var deleted: [TaskID] = []
    }

    static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).tasks (
            id bigint PRIMARY KEY,
            version integer NOT NULL,
            account_id bigint NOT NULL,
            created_at timestamptz NOT NULL,
            title text NOT NULL,
            is_completed boolean NOT NULL
        );
        """
    }

    static func indexes(in schema: String) -> String {
        "CREATE INDEX tasks_of_account ON \(schema).tasks (account_id, created_at, id);"
    }

    func fold(_ envelopes: [EventEnvelope<TaskDomainEvent>]) -> Changes {
        var rows: [TaskID: Row] = [:]
        var deleted: Set<TaskID> = []
        for envelope in envelopes {
            guard let id = TaskID(stream: envelope.stream) else { continue }
            var row = rows[id] ?? Row(id: id, version: envelope.version)
            row.version = envelope.version
            switch envelope.event {
            case .created(let created):
                (row.account, row.createdAt) = (created.account, envelope.recordedAt)
                (row.title, row.isCompleted) = (created.title, false)
            case .renamed(let renamed): row.title = renamed.title
            case .completed: row.isCompleted = true
            case .reopened: row.isCompleted = false
            case .deleted:
                // A task that this batch created has no row yet.
                if row.account == nil { deleted.insert(id) }
                rows[id] = nil
                continue
            }
            rows[id] = row
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        return Changes(
            created: ordered.filter { $0.account != nil }, changed: ordered.filter { $0.account == nil },
            deleted: deleted.sorted { $0.rawValue < $1.rawValue })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        let renamed = changes.changed.filter { $0.title != nil }
        let marked = changes.changed.filter { $0.isCompleted != nil }
        var writes: [Write] = []
        if !changes.created.isEmpty { writes.append(.insert(Self.layout.insertion(of: changes.created, in: schema))) }
        if !renamed.isEmpty { writes.append(.run(Self.titles.update(renamed, by: "id", in: schema))) }
        if !marked.isEmpty { writes.append(.run(Self.marks.update(marked, by: "id", in: schema))) }
        if !changes.deleted.isEmpty {
            writes.append(.run("DELETE FROM \(identifier: schema).tasks WHERE id = ANY(\(changes.deleted.map(\.rawValue)))"))
        }
        return writes
    }

    private static let layout = RowLayout<Row>(
        table: "tasks",
        [
            .init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init("account_id") { $0.account?.rawValue },
            .init("created_at") { $0.createdAt }, .init("title") { $0.title }, .init("is_completed") { $0.isCompleted },
        ])
    private static let changeable = layout.without("account_id").without("created_at")
    private static let titles = changeable.without("is_completed")
    private static let marks = changeable.without("title")
}

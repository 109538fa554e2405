internal import Accounts
internal import Encoding
internal import EventStore
internal import Postgres

/// The read model of tasks. The row of a deleted task stays without its title, so that an erasure of the account finds its stream.
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
        var isDeleted = false
        var isErased = false

        /// Applies a later domain event of this task. It is the only fold of tasks.
        mutating func apply(_ event: TaskDomainEvent, version: Int32, recordedAt: Timestamp? = nil) {
            self.version = version
            switch event {
            case .created(let account, let title):
                (self.account, createdAt, isCompleted) = (account, recordedAt, false)
                apply(title)
            case .renamed(let title): apply(title)
            case .completed: isCompleted = true
            case .reopened: isCompleted = false
            case .deleted: isDeleted = true
            case .erased: isErased = true
            }
        }

        private mutating func apply(_ title: Personal<String>) {
            switch title {
            case .present(let title): self.title = title
            case .erased: isErased = true
            }
        }
    }

    struct Changes: Sendable, Hashable {
        /// One row for each task, by id.
        var created: [Row] = []
        var changed: [Row] = []
        /// Tasks that have no row any more.
        var erased: [TaskID] = []
    }

    static let tables =
        """
        CREATE TABLE tasks (
            id bigint PRIMARY KEY,
            version integer NOT NULL,
            account_id bigint NOT NULL,
            created_at timestamptz NOT NULL,
            -- NULL after the deletion.
            title text,
            is_completed boolean NOT NULL
        );
        """

    static let indexes = "CREATE INDEX tasks_of_account ON tasks (account_id, created_at, id);"

    func fold(_ envelopes: [EventEnvelope<TaskDomainEvent>]) -> Changes {
        var rows: [TaskID: Row] = [:]
        for envelope in envelopes {
            guard let id = TaskID(stream: envelope.stream) else { continue }
            rows[id, default: Row(id: id, version: 0)].apply(
                envelope.event, version: envelope.version, recordedAt: envelope.recordedAt)
        }
        let ordered = rows.values.sorted { $0.id.rawValue < $1.id.rawValue }
        let present = ordered.filter { !$0.isErased }
        return Changes(
            created: present.filter { $0.account != nil }, changed: present.filter { $0.account == nil },
            erased: ordered.filter(\.isErased).map(\.id))
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        let erased = changes.erased.map(\.rawValue)
        return .inserting(changes.created, Self.layout, in: schema)
            + .updating(changes.changed.filter { $0.title != nil || $0.isDeleted }, Self.titles, in: schema)
            + .updating(changes.changed.filter { $0.isCompleted != nil }, Self.marks, in: schema)
            + (erased.isEmpty ? [] : [.run("DELETE FROM \(identifier: schema).tasks WHERE id = ANY(\(erased))")])
    }

    private static let layout = RowLayout<Row>(
        table: "tasks",
        [
            .init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init("account_id") { $0.account?.rawValue },
            .init("created_at") { $0.createdAt }, .init("title") { $0.isDeleted ? nil : $0.title },
            .init("is_completed") { $0.isCompleted },
        ])
    /// The columns that ``AccountTask/init(_:)`` reads. It reads no deleted task.
    static let columns = layout.without("created_at").names
    private static let changeable = layout.without("account_id").without("created_at")
    private static let titles = changeable.without("is_completed")
    private static let marks = changeable.without("title")
}

extension AccountTask {
    /// - Throws: `PostgresError`
    init(_ row: Row) throws(PostgresError) {
        let (id, version, account, title, isCompleted) = try row.decode((Int64, Int32, Int64, String, Bool).self)
        self.init(
            id: TaskID(rawValue: id), version: version, account: AccountID(rawValue: account), title: title,
            isCompleted: isCompleted)
    }

    /// The task after a change of its own; `nil` after its deletion.
    func applying(_ event: TaskDomainEvent) -> AccountTask? {
        var row = TasksProjection.Row(id: id, version: version)
        row.apply(event, version: version + 1)
        guard !row.isDeleted, !row.isErased else { return nil }
        return AccountTask(
            id: id, version: row.version, account: account, title: row.title ?? title,
            isCompleted: row.isCompleted ?? isCompleted)
    }
}

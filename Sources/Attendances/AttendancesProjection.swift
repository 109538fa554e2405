internal import Encoding
internal import EventStore
internal import Events
internal import Postgres
internal import Users

/// The read model of attendances. The row of a user who left stays, because the next domain event needs its version.
struct AttendancesProjection: Projection {
    static let name = "attendances"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []

    struct Changes: Sendable, Hashable {
        /// The attendances that began in the batch, as the whole batch leaves them, in the order of the log.
        var created: [Attendance] = []
        /// The other attendances of the batch, as it leaves them, in the order of the log.
        var changed: [Attendance] = []
    }

    static let tables =
        """
        CREATE TABLE attendances (
            event_id bigint NOT NULL,
            user_id bigint NOT NULL,
            version integer NOT NULL,
            -- NULL if the user left.
            attended_at timestamptz,
            -- The last column lets a count read the index alone.
            PRIMARY KEY (event_id, user_id) INCLUDE (attended_at)
        );
        """

    static let indexes =
        """
        CREATE INDEX attendances_of_user ON attendances (user_id, attended_at, event_id);
        """

    /// The last domain event of an attendance has the whole row.
    func fold(_ envelopes: [EventEnvelope<AttendanceDomainEvent>]) -> Changes {
        var attendances: [AttendanceKey: Attendance] = [:]
        var order: [(key: AttendanceKey, isCreated: Bool)] = []
        for envelope in envelopes {
            let key = envelope.event.key
            let attendedAt: Timestamp? =
                switch envelope.event {
                case .added: envelope.recordedAt
                case .removed, .erased: nil
                }
            let before = attendances.updateValue(
                Attendance(key: key, version: envelope.version, attendedAt: attendedAt), forKey: key)
            if before == nil { order.append((key, envelope.version == 1)) }
        }
        return Changes(
            created: order.filter(\.isCreated).compactMap { attendances[$0.key] },
            changed: order.filter { !$0.isCreated }.compactMap { attendances[$0.key] })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        let changed = changes.changed
        return .inserting(changes.created, Self.layout, in: schema)
            + (changed.isEmpty ? [] : [.run(Self.layout.update(changed, by: "event_id", "user_id", in: schema))])
    }

    /// The columns of a row, in the order in which ``Attendance/init(_:)`` reads them.
    static let layout = RowLayout<Attendance>(
        table: "attendances",
        [
            .init("event_id") { $0.key.event.rawValue }, .init("user_id") { $0.key.user.rawValue },
            .init("version") { $0.version }, .init("attended_at") { $0.attendedAt },
        ])
}

extension Attendance {
    /// - Throws: `PostgresError`
    init(_ row: Row) throws(PostgresError) {
        let (event, user, version, attendedAt) = try row.decode((Int64, Int64, Int32, Timestamp?).self)
        let key = AttendanceKey(event: EventID(rawValue: event), user: UserID(rawValue: user))
        self.init(key: key, version: version, attendedAt: attendedAt)
    }
}

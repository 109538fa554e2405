internal import Encoding
internal import EventStore
internal import Events
internal import Postgres
internal import Users

/// The read model of attendances. The row of a user who left stays, because the next domain event needs its version.
///
/// Each row has the number of attendees after its last change, so the row that changed last has the present one. A row for the count
/// alone would change with every attendance of a popular event.
struct AttendancesProjection: Projection {
    static let name = "attendances"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []

    /// An attendance as a batch leaves it, apart from what came before the batch.
    struct Change: Sendable, Hashable {
        var attendance: Attendance
        /// The place of its last domain event among those of the same event in the batch, from 1.
        var number: Int64
        /// By how many the attendees of the event grew in the batch, up to that domain event.
        var growth: Int64
    }

    static let tables =
        """
        CREATE TABLE attendances (
            event_id bigint NOT NULL,
            user_id bigint NOT NULL,
            version integer NOT NULL,
            -- NULL if the user left.
            attended_at timestamptz,
            -- The last change of the row among all changes of the event's attendances, which count from 1.
            change_number bigint NOT NULL,
            -- The users who attended the event after that change.
            attendee_count bigint NOT NULL,
            -- The last column lets the list of attendees read the index alone.
            PRIMARY KEY (event_id, user_id) INCLUDE (attended_at)
        );
        CREATE INDEX attendances_last ON attendances (event_id, change_number);
        """

    static let indexes =
        """
        CREATE INDEX attendances_of_user ON attendances (user_id, attended_at, event_id);
        """

    /// The last domain event of an attendance has the whole row.
    func fold(_ envelopes: [EventEnvelope<AttendanceDomainEvent>]) -> [AttendanceKey: Change] {
        var changes: [AttendanceKey: Change] = [:]
        var events: [EventID: (number: Int64, growth: Int64)] = [:]
        for envelope in envelopes {
            let key = envelope.event.key
            let attendedAt: Timestamp? =
                switch envelope.event {
                case .added: envelope.recordedAt
                case .removed, .erased: nil
                }
            var (number, growth) = events[key.event] ?? (0, 0)
            number += 1
            // An attendance is added at odd versions only, so before an even one the user attended.
            growth += (attendedAt == nil ? 0 : 1) - (envelope.version % 2 == 0 ? 1 : 0)
            events[key.event] = (number, growth)
            let attendance = Attendance(key: key, version: envelope.version, attendedAt: attendedAt)
            changes[key] = Change(attendance: attendance, number: number, growth: growth)
        }
        return changes
    }

    func writes(for changes: [AttendanceKey: Change], in schema: String) -> [Write] {
        guard !changes.isEmpty else { return [] }
        let changes = Array(changes.values)
        let attendances = changes.map(\.attendance)
        return [
            .run(
                """
                INSERT INTO \(identifier: schema).attendances
                SELECT n.event_id, n.user_id, n.version, n.attended_at,
                    coalesce(l.change_number, 0) + n.number, coalesce(l.attendee_count, 0) + n.growth
                FROM (
                    SELECT unnest(\(attendances.map(\.key.event.rawValue))), unnest(\(attendances.map(\.key.user.rawValue))),
                        unnest(\(attendances.map(\.version))), unnest(\(attendances.map(\.attendedAt))),
                        unnest(\(changes.map(\.number))), unnest(\(changes.map(\.growth)))
                ) AS n (event_id, user_id, version, attended_at, number, growth)
                LEFT JOIN LATERAL (\(Self.last(of: "n.event_id", in: schema))) AS l ON true
                -- Finds all last rows before it inserts any: each search would step over the rows of its own statement.
                ORDER BY n.event_id, n.number
                ON CONFLICT (event_id, user_id) DO UPDATE SET (version, attended_at, change_number, attendee_count)
                    = (excluded.version, excluded.attended_at, excluded.change_number, excluded.attendee_count)
                """)
        ]
    }

    /// A query of the row that changed last. It reads one row, for any number of attendances.
    static func last(of event: SQL, in schema: String = schema) -> SQL {
        """
        SELECT change_number, attendee_count FROM \(identifier: schema).attendances
        WHERE event_id = \(event) ORDER BY change_number DESC LIMIT 1
        """
    }

    /// The columns that ``Attendance/init(_:)`` reads.
    static let columns: SQL = "event_id, user_id, version, attended_at"
}

extension Attendance {
    /// - Throws: `PostgresError`
    init(_ row: Row) throws(PostgresError) {
        let (event, user, version, attendedAt) = try row.decode((Int64, Int64, Int32, Timestamp?).self)
        let key = AttendanceKey(event: EventID(rawValue: event), user: UserID(rawValue: user))
        self.init(key: key, version: version, attendedAt: attendedAt)
    }
}

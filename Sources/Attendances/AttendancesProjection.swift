internal import EventStore
internal import Events
internal import Postgres
internal import Users

/// The read model of attendances.
struct AttendancesProjection: Projection {
    static let name = "attendances"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = []

    static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).attendances (
            event_id bigint NOT NULL,
            user_id bigint NOT NULL
        );
        """
    }

    static func indexes(in schema: String) -> String {
        "ALTER TABLE \(schema).attendances ADD PRIMARY KEY (event_id, user_id);"
    }

    func fold(_ envelopes: [EventEnvelope<AttendanceDomainEvent>]) -> [AttendanceAdded] {
        envelopes.map { envelope in
            switch envelope.event {
            case .added(let added): added
            }
        }
    }

    func writes(for rows: [AttendanceAdded], in schema: String) -> [Write] {
        rows.isEmpty ? [] : [.insert(Self.layout.insertion(of: rows, in: schema))]
    }

    private static let layout = RowLayout<AttendanceAdded>(
        table: "attendances", [.init("event_id") { $0.event.rawValue }, .init("user_id") { $0.user.rawValue }])
}

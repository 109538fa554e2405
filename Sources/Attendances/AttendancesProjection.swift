package import EventStore
internal import Events
package import Postgres
internal import Users

/// Who attends what.
package struct AttendancesProjection: Projection {
    package static let schema = "attendances"
    package static let version: Int32 = 1

    package init() {}

    package static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).attendances (
            event_id bigint NOT NULL,
            user_id bigint NOT NULL,
            PRIMARY KEY (event_id, user_id)
        );
        """
    }

    package func fold(_ occurrences: [Occurrence<AttendanceDomainEvent>]) -> [AttendanceAdded] {
        occurrences.map { occurrence in
            switch occurrence.event {
            case .added(let added): added
            }
        }
    }

    package func statements(for rows: [AttendanceAdded], in schema: String) -> [SQL] {
        guard !rows.isEmpty else { return [] }
        return [
            """
            INSERT INTO \(identifier: schema).attendances (event_id, user_id)
            SELECT * FROM unnest(\(rows.map(\.event.rawValue)), \(rows.map(\.user.rawValue)))
            """
        ]
    }
}

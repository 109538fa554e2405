package import EventStore
internal import Notation
package import Postgres

/// Who is known by which device.
package struct UsersProjection: Projection {
    package static let schema = "users"
    package static let version: Int32 = 1

    package struct Row: Sendable, Hashable {
        package var id: UserID
        package var device: DeviceDigest
    }

    package init() {}

    package static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).users (
            id bigint PRIMARY KEY,
            device bytea NOT NULL CONSTRAINT users_device UNIQUE
        );
        """
    }

    package func fold(_ occurrences: [Occurrence<UserDomainEvent>]) -> [Row] {
        occurrences.compactMap { occurrence in
            switch occurrence.event {
            case .created(let created): UserID(stream: occurrence.stream).map { Row(id: $0, device: created.device) }
            }
        }
    }

    package func statements(for rows: [Row], in schema: String) -> [SQL] {
        guard !rows.isEmpty else { return [] }
        return [
            """
            INSERT INTO \(identifier: schema).users (id, device)
            SELECT * FROM unnest(\(rows.map(\.id.rawValue)), \(rows.map(\.device.bytea)))
            """
        ]
    }
}

internal import Encoding
package import EventStore
internal import Postgres

/// Who is known by which device.
package struct UsersProjection: Projection {
    package static let name = "users"
    package static let version: Int32 = 1
    package static let personalColumns: Set<String> = ["device"]

    package struct Row: Sendable, Hashable {
        package var id: UserID
        package var device: DeviceDigest
    }

    package init() {}

    package static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).users (
            id bigint NOT NULL,
            device bytea NOT NULL
        );
        """
    }

    package static func indexes(in schema: String) -> String {
        """
        ALTER TABLE \(schema).users ADD PRIMARY KEY (id);
        ALTER TABLE \(schema).users ADD CONSTRAINT users_device UNIQUE (device);
        """
    }

    package func fold(_ envelopes: [EventEnvelope<UserDomainEvent>]) -> [Row] {
        envelopes.compactMap { envelope in
            switch envelope.event {
            case .created(let created): UserID(stream: envelope.stream).map { Row(id: $0, device: created.device) }
            }
        }
    }

    package func writes(for rows: [Row], in schema: String) -> [Write] {
        rows.isEmpty ? [] : [.insert(Self.layout.insertion(of: rows, in: schema))]
    }

    private static let layout = RowLayout<Row>(
        table: "users", [.init("id") { $0.id.rawValue }, .init("device") { $0.device.bytea }])
}

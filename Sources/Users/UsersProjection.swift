internal import Encoding
internal import EventStore
internal import Postgres

/// The read model of users: the id of each device.
struct UsersProjection: Projection {
    static let name = "users"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["device"]

    struct Row: Sendable, Hashable {
        var id: UserID
        var device: DeviceDigest
    }

    static func tables(in schema: String) -> String {
        """
        CREATE TABLE \(schema).users (
            id bigint NOT NULL,
            device bytea NOT NULL
        );
        """
    }

    static func indexes(in schema: String) -> String {
        """
        ALTER TABLE \(schema).users ADD PRIMARY KEY (id);
        ALTER TABLE \(schema).users ADD CONSTRAINT users_device UNIQUE (device);
        """
    }

    func fold(_ envelopes: [EventEnvelope<UserDomainEvent>]) -> [Row] {
        envelopes.compactMap { envelope in
            switch envelope.event {
            case .created(let created): UserID(stream: envelope.stream).map { Row(id: $0, device: created.device) }
            }
        }
    }

    func writes(for rows: [Row], in schema: String) -> [Write] {
        rows.isEmpty ? [] : [.insert(Self.layout.insertion(of: rows, in: schema))]
    }

    private static let layout = RowLayout<Row>(
        table: "users", [.init("id") { $0.id.rawValue }, .init("device") { $0.device.bytea }])
}

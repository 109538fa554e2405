internal import Encoding
internal import EventStore
internal import Postgres

/// The read model of users: the digest of each user's present token.
struct UsersProjection: Projection {
    static let name = "users"
    static let version: Int32 = 1
    static let personalColumns: Set<String> = ["device"]

    struct Changes: Sendable, Hashable {
        /// The users of the batch's `UserCreated`, as the whole batch leaves them, by id.
        var created: [User] = []
        /// The other users of the batch, as it leaves them, by id.
        var changed: [User] = []
    }

    static let tables =
        """
        CREATE TABLE users (
            id bigint PRIMARY KEY,
            version integer NOT NULL,
            -- NULL after the token was revoked.
            device bytea
        );
        """

    static let indexes = "ALTER TABLE users ADD CONSTRAINT users_device UNIQUE (device);"

    /// The last domain event of a user has the whole row.
    func fold(_ envelopes: [EventEnvelope<UserDomainEvent>]) -> Changes {
        var (users, created): ([UserID: User], Set<UserID>) = ([:], [])
        for envelope in envelopes {
            guard let id = UserID(stream: envelope.stream) else { continue }
            if case .created = envelope.event { created.insert(id) }
            users[id] = User(id: id, version: envelope.version, device: envelope.event.device)
        }
        let ordered = users.values.sorted { $0.id.rawValue < $1.id.rawValue }
        return Changes(
            created: ordered.filter { created.contains($0.id) }, changed: ordered.filter { !created.contains($0.id) })
    }

    func writes(for changes: Changes, in schema: String) -> [Write] {
        .inserting(changes.created, Self.layout, in: schema) + .updating(changes.changed, Self.layout, in: schema)
    }

    /// The columns of a row, in the order in which ``User/init(_:)`` reads them.
    static let layout = RowLayout<User>(
        table: "users", [.init("id") { $0.id.rawValue }, .init("version") { $0.version }, .init("device") { $0.device?.bytea }])
}

extension User {
    /// - Throws: `PostgresError`
    init(_ row: Row) throws(PostgresError) {
        let (id, version, device) = try row.decode((Int64, Int32, Bytea?).self)
        self.init(id: UserID(rawValue: id), version: version, device: device.map { DeviceDigest(bytes: $0.bytes) })
    }
}

extension UserDomainEvent {
    /// The user's token after this domain event; `nil` if the user has none.
    var device: DeviceDigest? {
        switch self {
        case .created(.present(let device)), .rotated(.present(let device)): device
        case .created(.erased), .rotated(.erased), .revoked, .erased: nil
        }
    }
}

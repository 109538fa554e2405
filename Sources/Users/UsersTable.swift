internal import EventStore
internal import Postgres

/// Reads the users of the read model, and never without the last domain event of a user: an old row could accept a token that was
/// revoked.
struct UsersTable: Sendable {
    let state: StateReader
    private let log: LogReader

    init(client: PostgresClient) {
        state = StateReader(of: UsersProjection(), client: client)
        log = LogReader(client: client)
    }

    /// Holds while the user's stream ends as now. A user of an imported log may have another last event than the token's.
    /// - Throws: `PostgresError`, `FormatError`, `CancellationError`
    func condition(for user: UserID) async throws -> AppendCondition {
        guard let last = try await log.newest(of: user.stream) else { throw ReadModelError.behind(UsersProjection.schema) }
        return AppendCondition(stream: user.stream, lastID: last.envelope.id)
    }

    /// The users of these tokens, by digest. Unknown, replaced and revoked tokens have no entry.
    /// - Throws: `ReadModelError.behind`, `PostgresError`, `CancellationError`
    func users(of devices: [DeviceDigest]) async throws -> [DeviceDigest: UserID] {
        let found = try await users(where: "device = ANY(\(devices.map(\.bytea)))")
        return Dictionary(found.compactMap { user in user.device.map { ($0, user.id) } }) { first, _ in first }
    }

    /// - Throws: as ``users(of:)``
    func user(of device: DeviceDigest) async throws -> User? { try await users(where: "device = \(device.bytea)").first }

    /// - Throws: as ``users(of:)``
    func user(_ id: UserID) async throws -> User? { try await users(where: "id = \(id.rawValue)").first }

    private func users(where condition: SQL) async throws -> [User] {
        try await state.rows(
            "SELECT \(UsersProjection.layout.names) FROM \(identifier: UsersProjection.schema).users WHERE \(condition)"
        ).map { try User($0) }
    }
}

internal import EventStore
internal import Postgres

/// Reads the users of the read model, and never without the last domain event of a user: an old row could accept a token that was
/// revoked.
struct UsersTable: Sendable {
    private let state: CommandState

    init(client: PostgresClient) { state = CommandState(of: UsersProjection(), client: client) }

    /// The users of these tokens, by digest. Unknown, replaced and revoked tokens have no entry.
    /// - Throws: `ReadModelError.behind`, `PostgresError`, `CancellationError`
    func users(of devices: [DeviceDigest]) async throws -> [DeviceDigest: UserID] {
        let found = try await state.rows(
            "SELECT device, id FROM \(identifier: UsersProjection.schema).users WHERE device = ANY(\(devices.map(\.bytea)))"
        ).decode((Bytea, Int64).self)
        return Dictionary(found.map { (DeviceDigest(bytes: $0.bytes), UserID(rawValue: $1)) }) { first, _ in first }
    }

    /// - Throws: as ``users(of:)``
    func user(of token: DeviceToken) async throws -> User? { try await user(where: "device = \(token.digest.bytea)") }

    /// - Throws: as ``users(of:)``
    func user(_ id: UserID) async throws -> User? { try await user(where: "id = \(id.rawValue)") }

    private func user(where condition: SQL) async throws -> User? {
        try await state.rows("SELECT id, version, device FROM \(identifier: UsersProjection.schema).users WHERE \(condition)")
            .decode((Int64, Int32, Bytea?).self).first.map { id, version, device in
                User(id: UserID(rawValue: id), version: version, device: device.map { DeviceDigest(bytes: $0.bytes) })
            }
    }
}

internal import EventStore
internal import Logging
internal import Postgres

/// Reads the users of the read model, and never without the last domain event of a user.
///
/// Another version of the program may have appended, which leaves this version's tables behind. An old row could then accept a token
/// that was revoked. So each query first asks whether the tables hold every domain event of users, and catches them up if they do not.
struct UsersTable: Sendable {
    /// Maximum number of queries for one result. Between them the tables catch up.
    private static let attempts = 3

    let client: PostgresClient
    private let readModels: ReadModels

    init(client: PostgresClient) {
        self.client = client
        readModels = ReadModels(projections: [UsersProjection()], client: client, logger: Logger(label: "humon.users"))
    }

    /// The users of these tokens, by digest. Unknown, replaced and revoked tokens have no entry.
    /// - Throws: `ReadModelError.behind`, `PostgresError`, `CancellationError`
    func users(of devices: [DeviceDigest]) async throws -> [DeviceDigest: UserID] {
        let found = try await rows(
            "SELECT device, id FROM \(identifier: UsersProjection.schema).users WHERE device = ANY(\(devices.map(\.bytea)))"
        ).decode((Bytea, Int64).self)
        return Dictionary(found.map { (DeviceDigest(bytes: $0.bytes), UserID(rawValue: $1)) }) { first, _ in first }
    }

    /// - Throws: as ``users(of:)``
    func user(of token: DeviceToken) async throws -> User? { try await user(where: "device = \(token.digest.bytea)") }

    /// - Throws: as ``users(of:)``
    func user(_ id: UserID) async throws -> User? { try await user(where: "id = \(id.rawValue)") }

    private func user(where condition: SQL) async throws -> User? {
        try await rows("SELECT id, version, device FROM \(identifier: UsersProjection.schema).users WHERE \(condition)")
            .decode((Int64, Int32, Bytea?).self).first.map { id, version, device in
                User(id: UserID(rawValue: id), version: version, device: device.map { DeviceDigest(bytes: $0.bytes) })
            }
    }

    private func rows(_ query: SQL) async throws -> Rows {
        for _ in 1..<Self.attempts {
            // The first statement sees no more of the log than the second one.
            let answers = try await client.run([UsersProjection.isInStep, query])
            if try answers[0].decode(Bool.self).first == true { return answers[1] }
            try await catchUp()
        }
        let answers = try await client.run([UsersProjection.isInStep, query])
        guard try answers[0].decode(Bool.self).first == true else { throw ReadModelError.behind(UsersProjection.schema) }
        return answers[1]
    }

    private func catchUp() async throws {
        do {
            try await readModels.catchUp()
        } catch let error where error is CancellationError || (error as? PostgresError)?.isUnavailability == true {
            throw error
        } catch {
            throw ReadModelError.behind(UsersProjection.schema)
        }
    }
}

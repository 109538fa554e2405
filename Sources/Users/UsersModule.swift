package import EventStore
internal import Foundation
package import Postgres

/// The front door of the module.
public struct UsersModule: Sendable {
    package static let numbers = NumberSequence(category: UserDomainEvent.category, name: "log.user_ids")

    private let log: EventLog
    private let database: PostgresClient
    private let ids: IDSource
    private let surroundings: Surroundings
    private let cache = TokenCache()

    package init(log: EventLog, database: PostgresClient, surroundings: Surroundings) {
        self.log = log
        self.database = database
        self.surroundings = surroundings
        ids = IDSource(sequence: Self.numbers.name, client: database)
    }

    /// The user of that device, created if new. Without a token a fresh one is issued, and a new user with it.
    /// - Returns: with a position from which on the user is there
    /// - Throws: ``MalformedToken``, `PostgresError`, `EventLogError`
    public func signUp(with token: DeviceToken?, origin: Origin) async throws -> (
        id: UserID, token: DeviceToken, position: Int64
    ) {
        let token = token ?? DeviceToken(secret: surroundings.randomUUID().uuidString.lowercased())
        guard token.isWellFormed else { throw MalformedToken() }
        if let known = try await user(of: token) {
            return (known, token, try await LogReader(client: database).tail())
        }
        let appended = try await append(UserCreated(device: token.digest), origin: origin)
        guard let first = UserID(stream: appended.stream) else {
            throw FormatError("the sign-up of a device is recorded in the stream \(appended.stream)")
        }
        cache[token.digest] = first
        return (first, token, appended.position)
    }

    private func append(_ created: UserCreated, origin: Origin) async throws -> Appended {
        while true {
            let id = UserID(rawValue: try await ids.next())
            do {
                // The id comes from the device, so that sign-ups of one device at once, or again after a lost answer, are one.
                return try await log.append(
                    Append(
                        id: UUID(derivedFrom: "sign-up \(created.device.hexadecimal)"),
                        stream: id.stream,
                        expectedVersion: 0,
                        recordedAt: surroundings.now(),
                        metadata: origin.metadata(actor: id),
                        event: UserDomainEvent.created(created)
                    )
                )
            } catch is VersionConflict {
                // A number that was handed out before the sequence was set back, by a fail-over say, is somebody's already.
                try Task.checkCancellation()
            }
        }
    }

    /// Whose device that is; nil for an unknown one, and for a token that is not well formed, which no device can have.
    /// - Throws: `PostgresError`
    public func user(of token: DeviceToken) async throws -> UserID? {
        guard token.isWellFormed else { return nil }
        if let cached = cache[token.digest] { return cached }
        let found = try await database.query(
            "SELECT id FROM \(identifier: UsersProjection.schema).users WHERE device = \(token.digest.bytea)"
        ).decode(Int64.self)
        guard let user = found.first.map(UserID.init(rawValue:)) else { return nil }
        cache[token.digest] = user
        return user
    }
}

/// A device brings a token that is not well formed: ``DeviceToken/isWellFormed``.
public struct MalformedToken: Error, Hashable {}

package import EventStore
internal import Foundation
package import Postgres

/// The front door of the module.
public struct UsersModule: Sendable {
    package static let numbers = IDSequence(category: UserDomainEvent.category, name: "log.user_ids")

    private let log: EventLog
    private let database: PostgresClient
    private let ids: IDAllocator
    private let dependencies: Dependencies
    private let cache = TokenCache()

    package init(log: EventLog, database: PostgresClient, dependencies: Dependencies) {
        self.log = log
        self.database = database
        self.dependencies = dependencies
        ids = IDAllocator(sequence: Self.numbers.name, client: database, history: log.history)
    }

    /// The user of that device, created if new. Without a token a fresh one is issued, and a new user with it.
    /// - Returns: with a position from which on the user is there
    /// - Throws: ``MalformedToken``, `PostgresError`, `EventLogError`
    public func signUp(with token: DeviceToken?, context: CommandContext) async throws -> (
        id: UserID, token: DeviceToken, position: Int64
    ) {
        let token = token ?? DeviceToken(secret: dependencies.randomUUID().uuidString.lowercased())
        guard token.isWellFormed else { throw MalformedToken() }
        if let known = try await user(of: token) {
            return (known, token, try await LogReader(client: database).tail())
        }
        let generation = log.history.confirmed
        let appended = try await append(UserCreated(device: token.digest), context: context)
        guard let first = UserID(stream: appended.stream) else {
            throw FormatError("the sign-up of a device is recorded in the stream \(appended.stream)")
        }
        // This process has seen the place of its own commits only.
        if let generation, !appended.isRepeat { cache[token.digest, in: generation] = first }
        return (first, token, appended.position)
    }

    private func append(_ created: UserCreated, context: CommandContext) async throws -> AppendResult {
        // A number conflicts if the sequence was set back after it was given to a user, by a fail-over say.
        try await ConflictRetry(dependencies: dependencies).run { _ in
            let id = UserID(rawValue: try await ids.next())
            // The id comes from the device, so that sign-ups of one device at once, or again after a lost answer, are one.
            return try await log.append(
                AppendRequest(
                    id: UUID(derivedFrom: "sign-up \(created.device.hexadecimal)"),
                    stream: id.stream,
                    expectedVersion: 0,
                    recordedAt: dependencies.now(),
                    metadata: context.metadata(actor: id),
                    event: UserDomainEvent.created(created)
                )
            )
        }
    }

    /// Whose device that is; nil for an unknown one, and for a token that is not well formed, which no device can have.
    /// - Throws: `PostgresError`
    public func user(of token: DeviceToken) async throws -> UserID? {
        guard token.isWellFormed else { return nil }
        let generation = log.history.confirmed
        if let generation, let cached = cache[token.digest, in: generation] { return cached }
        let answers = try await database.run([
            "SELECT id FROM \(identifier: UsersProjection.schema).users WHERE device = \(token.digest.bytea)", LogCursor.newest,
        ])
        guard let user = try answers[0].decode(Int64.self).first.map(UserID.init(rawValue:)) else { return nil }
        if let generation, let newest = try answers[1].decode((Int64, UUID).self).first {
            // The user was recorded at this place or before it: a loss of the user is a loss of this place.
            log.history.saw(LogCursor(position: newest.0, id: newest.1))
            cache[token.digest, in: generation] = user
        }
        return user
    }
}

/// A device brings a token that is not well formed: ``DeviceToken/isWellFormed``.
public struct MalformedToken: Error, Hashable {}

public import EventStore
internal import Foundation
internal import Postgres

extension Module {
    /// People, each known by the token of a device.
    package static let users = Module(
        "users", domainEvents: [UserDomainEvent.self], projections: [UsersProjection()], idSequences: [UsersModule.ids])
}

/// Signs devices up and finds their users.
public struct UsersModule: Sendable {
    static let ids = IDSequence(category: UserDomainEvent.category, name: "log.user_ids")

    private let log: EventLog
    private let database: PostgresClient
    private let ids: IDAllocator
    private let dependencies: Dependencies
    private let cache = TokenCache()

    package init(_ context: ModuleContext) {
        log = context.log
        database = context.database
        dependencies = context.dependencies
        ids = IDAllocator(sequence: Self.ids.name, client: database, history: log.history)
    }

    /// Returns the user of a device, whom it creates if the device is new. Without a token it issues one, for a new user.
    /// - Returns: a position from which on the user is in the log
    /// - Throws: ``UserRejection``, `StreamContended`, `PostgresError`, `EventLogError`
    public func signUp(with token: DeviceToken?, context: CommandContext) async throws -> (
        id: UserID, token: DeviceToken, position: Int64
    ) {
        let token = token ?? DeviceToken(secret: dependencies.randomUUID().uuidString.lowercased())
        guard token.isWellFormed else { throw UserRejection.malformedToken }
        if let known = try await user(of: token) {
            return (known, token, try await LogReader(client: database).tail())
        }
        let generation = log.history.confirmed
        let appended = try await append(UserCreated(device: token.digest), context: context)
        guard let first = UserID(stream: appended.stream) else {
            throw FormatError("the sign-up of a device is recorded in the stream \(appended.stream)")
        }
        // This process has seen the positions of its own commits only.
        if let generation, !appended.isRepeat { cache[token.digest, in: generation] = first }
        return (first, token, appended.position)
    }

    private func append(_ created: UserCreated, context: CommandContext) async throws -> AppendResult {
        // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
        try await ConflictRetry(dependencies: dependencies).run { _ in
            let id = UserID(rawValue: try await ids.next())
            // The id derives from the device: sign-ups of one device at the same time, or after a lost response, are one sign-up.
            return try await log.append(
                AppendRequest(
                    id: UUID(derivedFrom: "sign-up \(created.device.hexadecimal)"),
                    stream: id.stream,
                    expectedVersion: 0,
                    recordedAt: dependencies.now(),
                    metadata: context.metadata(actor: id.rawValue),
                    event: UserDomainEvent.created(created)
                )
            )
        }
    }

    /// Returns the user of a device; `nil` if the device is unknown, or the token is not well formed.
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
            // The user was recorded at this position or before it: if the log loses the user, it loses this position too.
            log.history.saw(LogCursor(position: newest.0, id: newest.1))
            cache[token.digest, in: generation] = user
        }
        return user
    }
}

/// Why a sign-up is refused.
public enum UserRejection: Rejection, Hashable {
    /// The token is not well formed: ``DeviceToken/isWellFormed``.
    case malformedToken

    public var kind: RejectionKind {
        let error = FieldError("device_token", .invalidCharacters, "must consist of printable ASCII characters")
        return .invalid(errors: [error])
    }
}

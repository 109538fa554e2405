public import EventStore
internal import Foundation
internal import Logging
internal import Postgres

extension StoredModule {
    /// People, each known by the token of a device.
    package static let users = StoredModule(
        "users", domainEvents: [UserDomainEvent.self, PassDomainEvent.self],
        projections: [UsersProjection(), PassesProjection()], idSequences: [UsersModule.ids])
}

/// Signs devices up, finds their users, replaces and revokes their tokens, and lets users come back with a pass.
public struct UsersModule: Sendable {
    static let ids = IDSequence(category: UserDomainEvent.category, name: "log.user_ids")

    let database: PostgresClient
    let commands: CommandHandler
    public let erasures: PersonErasures
    private let exports: PersonalExport
    let table: UsersTable
    let dependencies: Dependencies
    private let logger: Logger
    private let history: LostEndDetector
    private let ids: IDAllocator
    private let lookup: BatchedLookup<DeviceDigest, UserID>
    private let recent = RecentUsers()

    package init(_ composition: Composition) {
        database = composition.database
        erasures = PersonErasures(composition)
        exports = PersonalExport(composition)
        dependencies = composition.dependencies
        logger = composition.logger
        history = composition.log.history
        ids = IDAllocator(Self.ids, client: database)
        let table = UsersTable(client: composition.database)
        self.table = table
        commands = CommandHandler(composition, state: table.state)
        lookup = BatchedLookup { try await table.users(of: $0) }
    }

    /// The log's cursor at a position, as far as this process remembers it.
    public func rememberedCursor(at position: Int64) -> LogCursor? { history.cursor(at: position) }

    /// The log's cursor at a position, which another history of the log does not have; `nil` if the log does not reach the position.
    /// - Throws: `PostgresError`, or `CancellationError`
    public func cursor(at position: Int64) async throws -> LogCursor? { try await history.cursor(at: position, database) }

    /// Whether this history of the log has a cursor. True if the database is away: the index answers for a while without it.
    /// - Throws: `PostgresError`, or `CancellationError`
    public func mayHave(_ cursor: LogCursor) async throws -> Bool {
        do { return try await self.cursor(at: cursor.position) == cursor } catch let error as PostgresError
            where error.isUnavailability
        {
            return true
        }
    }

    /// Returns the user of a device, whom it creates if the device is new. Without a token it issues one, for a new user.
    /// - Returns: a position from which on the user is in the log
    /// - Throws: ``UserRejection``, `ReadModelError.behind`, `StreamContended`, `PostgresError`, `EventLogError`
    public func signUp(with token: DeviceToken?, context: CommandContext) async throws -> (
        id: UserID, token: DeviceToken, position: Int64
    ) {
        if let token {
            guard token.isWellFormed else { throw UserRejection.malformedToken }
            if let known = try await user(of: token) {
                return (known, token, try await LogReader(client: database).tail())
            }
        }
        // A new token needs no lookup, because no user has it.
        let token = token ?? newToken()
        let (place, isRepeat) = try await commands.handle(context) {
            // An id conflicts if the sequence was set back after it handed the id out, for example by a fail-over.
            let id = UserID(rawValue: try await ids.next())
            return Decision(
                UserDomainEvent.created(device: .present(try await digest(of: token))), to: id.stream, after: 0, by: id.rawValue,
                id: try await domainEventID(of: token))
        }
        guard let first = UserID(stream: place.stream) else {
            throw FormatError("the sign-up of a device is recorded in the stream \(place.stream)")
        }
        // The log had the token before. A sign-up at the same time was faster, or the token was replaced or revoked since.
        if isRepeat, try await user(of: token) != first { throw UserRejection.unknownToken }
        return (first, token, place.position)
    }

    /// Returns the user of a device; `nil` if the token is unknown, replaced, revoked, or not well formed. Every call asks the database,
    /// together with calls at the same time.
    /// - Throws: `PostgresError`, `ReadModelError.behind`, `CancellationError`
    public func user(of token: DeviceToken) async throws -> UserID? {
        guard token.isWellFormed else { return nil }
        return try await lookup.value(of: try await digest(of: token))
    }

    /// The streams that tell of a user.
    /// - Throws: the errors of `PersonalExport.streams(of:)`
    public func streams(of id: UserID) async throws -> [StreamName] { try await exports.streams(of: id.stream) }

    /// Writes everything that is stored of a user, as lines of one JSON object.
    /// - Parameter streams: as ``streams(of:)`` found them
    /// - Throws: the errors of `PersonalExport.write(_:at:to:)`
    public func export(_ streams: [StreamName], to write: ([String]) async throws -> Void) async throws {
        do { try await exports.write(streams, at: dependencies.now(), to: write) } catch  where !(error is CancellationError) {
            logger.error("an export broke off", metadata: ["user": "\(streams[0])", "error": "\(error)"])
            throw error
        }
    }

    /// Whether a command of the token needs no query for its user.
    public func remembers(_ token: DeviceToken) -> Bool { recent[token.digest] != nil }

    /// The user of a token for a command, with the condition that the token is still the user's when the command is recorded; `nil` if no
    /// user has the token. A process that has looked the token up before needs no query.
    /// - Parameter failed: the condition that a command just failed, so that the token is looked up again; `nil` for the first attempt
    /// - Throws: what ``user(of:)`` throws
    public func caller(of token: DeviceToken, after failed: AppendCondition? = nil) async throws -> Caller<UserID>? {
        guard token.isWellFormed else { return nil }
        if failed == nil, let remembered = recent[token.digest] { return remembered }
        if failed != nil { recent.failed(token.digest) }
        let device = try await digest(of: token)
        guard let user = try await lookup.value(of: device) else {
            recent.forget(token.digest)
            return nil
        }
        let caller = Caller(id: user, condition: AppendCondition(stream: user.stream, lastID: try await domainEventID(of: token)))
        if recent.found(caller, of: token.digest) { return caller }
        let condition = try await table.condition(for: user)
        // The token may have ended before the condition was made.
        guard try await lookup.value(of: device) == user else { return nil }
        return Caller(id: user, condition: condition)
    }

    /// A random token, which cannot be guessed.
    func newToken() -> DeviceToken { DeviceToken(secret: dependencies.randomUUID().uuidString.lowercased()) }

    /// The id of the one recorded event that brings the token. It derives from the token: sign-ups of one device at the same time, or
    /// after a lost response, are one sign-up, and the log records no token twice.
    /// - Throws: the errors of `Pepper.id(of:)`
    func domainEventID(of token: DeviceToken) async throws -> UUID {
        try await commands.pepper.id(of: "sign-up \(token.digest.hexadecimal)")
    }

    /// What the log and the read model have of a token. The digest of a short one needs the pepper, because an archive has digests. All
    /// others must be found in an imported log, too.
    /// - Throws: the errors of `Pepper.digest(of:)`
    func digest(of token: DeviceToken) async throws -> DeviceDigest {
        guard token.canBeGuessed else { return token.digest }
        return DeviceDigest(bytes: try await commands.pepper.digest(of: "token \(token.digest.hexadecimal)"))
    }
}

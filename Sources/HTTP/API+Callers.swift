internal import Accounts
internal import Encoding
internal import EventStore
public import HTTPServer
internal import Users

/// The limits that several routes share.
public struct SharedLimits: Sendable {
    /// Writes of one user or account, by its stream.
    let writes: RateLimiter
    /// Writes of one client address, before the token is known.
    let addressWrites: RateLimiter
    /// Lookups of one client address that found no user, no account or no erasure. It has a limit always, so that nobody guesses a short
    /// token.
    public let unknownTokens: RateLimiter
    /// Sign-ups of one client address, of every kind.
    public let dailySignUps: RateLimiter
    /// Reads of one secret address of a calendar. No setting lifts the limit: each read looks the secret up.
    let calendarReads: RateLimiter
    private let returns: RateLimiter
    private let allReturns: RateLimiter

    /// The limits of returns with a pass, of one client address and of this node. No setting lifts them, so that nobody guesses a code.
    public static let returnsPerMinute = 10
    public static let allReturnsPerMinute = 300

    public static let calendarReadsPerMinute = 10

    /// The limit of unknown tokens where the settings have no limit of writes.
    static let unknownTokensPerMinute = 120

    init(_ settings: API.Settings, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        writes = RateLimiter(perMinute: settings.writesPerMinute, now: now)
        addressWrites = RateLimiter(perMinute: settings.addressWritesPerMinute, now: now)
        let unknownTokensPerMinute = settings.writesPerMinute > 0 ? settings.writesPerMinute : Self.unknownTokensPerMinute
        unknownTokens = RateLimiter(perMinute: unknownTokensPerMinute, now: now)
        dailySignUps = RateLimiter(perDay: settings.signUpsPerDay, now: now)
        calendarReads = RateLimiter(perMinute: Self.calendarReadsPerMinute, now: now)
        returns = RateLimiter(perMinute: Self.returnsPerMinute, now: now)
        allReturns = RateLimiter(perMinute: Self.allReturnsPerMinute, now: now)
    }

    /// Counts an attempt to come back with a pass. An address that has none left takes none of the node's.
    /// - Throws: `HTTPError.tooManyRequests`
    public func takeReturn(from subscriber: NetworkAddress?) throws(HTTPError) {
        try returns.take(subscriber)
        try allReturns.take("")
    }
}

/// A client that sends a token. The token may be unknown.
struct TokenSender<Token: Sendable>: Sendable {
    var token: Token
    /// The prefix of the client's address; `nil` if the address is unknown.
    var subscriber: NetworkAddress?
}

extension API {
    /// The user of a reading request that must have one.
    /// - Throws: `HTTPError.unauthorized` if there is no token or the token is unknown, `HTTPError.tooManyRequests`, `PostgresError`
    func caller(_ request: Request, _ context: RequestContext) async throws -> UserID {
        guard let caller = try await reader(request, context) else { throw HTTPError.unauthorized }
        return caller
    }

    /// The user of a reading request; `nil` if the request has no token or an unknown token.
    /// - Throws: `HTTPError.tooManyRequests`, `PostgresError`
    func reader(_ request: Request, _ context: RequestContext) async throws -> UserID? {
        guard let token = request.deviceToken else { return nil }
        return try await known(to: subscriber(request, context)) { try await users.user(of: token) }
    }

    /// Lets everyone read, or devices only, as the settings say.
    /// - Throws: what ``caller(_:_:)`` throws
    func requireReader(_ request: Request, _ context: RequestContext) async throws {
        switch settings.reads {
        case .everyone: break
        case .devices: _ = try await caller(request, context)
        }
    }

    /// The device of a write, before its body is read. ``withCaller(_:_:_:)`` refuses an unknown token after the body was checked.
    /// - Throws: `HTTPError.unauthorized` without a token, `HTTPError.tooManyRequests`
    func requireDevice(_ request: Request, _ context: RequestContext) throws(HTTPError) -> TokenSender<DeviceToken> {
        guard let token = request.deviceToken else { throw .unauthorized }
        return try writer(token, request, context)
    }

    /// The account token of a write, before it is looked up.
    /// - Parameter takesQuery: whether the token may stand in the query
    /// - Throws: `HTTPError.unauthorized` without a token, `HTTPError.tooManyRequests`
    func requireAccountToken(
        _ request: Request, _ context: RequestContext, body: JSON, inQuery takesQuery: Bool = false
    ) throws(HTTPError) -> TokenSender<AccountToken> {
        guard let token = try request.accountToken(body: body, inQuery: takesQuery) else { throw .unauthorized }
        return try writer(token, request, context)
    }

    /// Carries out a command for the user of a device. The command's context requires that the token is still the user's, so a user that
    /// the node remembers is not looked up.
    /// - Throws: `HTTPError.unauthorized` for an unknown token, `HTTPError.tooManyRequests`, what the command throws, and
    ///   `StreamContended` if the token's user changes all the time
    func withCaller<Result>(
        _ device: TokenSender<DeviceToken>, _ context: CommandContext,
        _ command: (UserID, CommandContext) async throws -> Result
    ) async throws -> Result {
        if !users.remembers(device.token) { try limits.unknownTokens.check(device.subscriber) }
        return try await carryOut(
            context, from: device.subscriber, as: { try await users.caller(of: device.token, after: $0) }, command)
    }

    /// The user who rotates a token. Not ``withCaller(_:_:_:)``: a repetition has a token that is dead already.
    /// - Throws: `HTTPError.unauthorized` for an unknown token, `HTTPError.tooManyRequests`, and what the command throws
    func withRotation<Result>(
        _ device: TokenSender<DeviceToken>, _ rotate: () async throws -> Result
    ) async throws -> Result {
        try limits.unknownTokens.check(device.subscriber)
        if let user = try await users.user(of: device.token) { try limits.writes.take(user.stream) }
        do { return try await rotate() } catch UserRejection.unknownToken { throw unknownToken(from: device.subscriber) }
    }

    /// Carries out a command for the account of a token. The command's context requires that the account is not erased meanwhile.
    /// - Throws: what ``withCaller(_:_:_:)`` throws
    func withAccount<Result>(
        _ sender: TokenSender<AccountToken>, _ context: CommandContext,
        _ command: (AccountID, CommandContext) async throws -> Result
    ) async throws -> Result {
        try limits.unknownTokens.check(sender.subscriber)
        return try await carryOut(
            context, from: sender.subscriber, as: { _ in try await accounts.caller(of: sender.token) }, command)
    }

    /// Maximum number of lookups of a caller who changes meanwhile.
    private static let lookups = 4

    /// - Parameter look: finds the caller; gets the condition that failed before
    private func carryOut<ID: Sendable, Result>(
        _ context: CommandContext, from subscriber: NetworkAddress?, as look: (AppendCondition?) async throws -> Caller<ID>?,
        _ command: (ID, CommandContext) async throws -> Result
    ) async throws -> Result {
        var failed: AppendCondition?
        var number = 0
        while true {
            number += 1
            guard let caller = try await look(failed) else { throw unknownToken(from: subscriber) }
            let condition = caller.condition
            if number == 1 { try limits.writes.take(condition.stream) }
            var conditional = context
            conditional.conditions.append(condition)
            do { return try await command(caller.id, conditional) } catch let error as FailedConditionError
                where error.condition == condition
            {
                guard number < Self.lookups else { throw StreamContended(stream: condition.stream) }
                failed = condition
            }
        }
    }

    /// The account of a write that changes the account's own stream.
    /// - Throws: `HTTPError.unauthorized` for an unknown token, `HTTPError.tooManyRequests`, `PostgresError`
    func account(of caller: TokenSender<AccountToken>) async throws -> AccountID {
        let account = try await knownAccount(of: caller)
        try limits.writes.take(account.stream)
        return account
    }

    /// The account of a reading request.
    /// - Throws: `HTTPError.unauthorized` without a token and for an unknown token, `HTTPError.tooManyRequests`, `PostgresError`
    func account(reading request: Request, _ context: RequestContext) async throws -> AccountID {
        guard let token = try request.accountToken(inQuery: true) else { throw HTTPError.unauthorized }
        return try await knownAccount(of: TokenSender(token: token, subscriber: subscriber(request, context)))
    }

    private func knownAccount(of caller: TokenSender<AccountToken>) async throws -> AccountID {
        guard let account = try await known(to: caller.subscriber, { try await accounts.account(of: caller.token) }) else {
            throw HTTPError.unauthorized
        }
        return account
    }

    /// Looks up what a secret in a request names. A secret that names nothing counts, so that nobody can guess secrets without end.
    /// - Throws: `HTTPError.tooManyRequests`, and what the lookup throws
    func known<Found>(to subscriber: NetworkAddress?, _ look: () async throws -> Found?) async throws -> Found? {
        try limits.unknownTokens.check(subscriber)
        let found = try await look()
        if found == nil { _ = unknownToken(from: subscriber) }
        return found
    }

    private func writer<Token>(
        _ token: Token, _ request: Request, _ context: RequestContext
    ) throws(HTTPError) -> TokenSender<Token> {
        let subscriber = subscriber(request, context)
        try limits.addressWrites.take(subscriber)
        return TokenSender(token: token, subscriber: subscriber)
    }

    func subscriber(_ request: Request, _ context: RequestContext) -> NetworkAddress? {
        context.sender(of: request).address?.subscriber
    }

    /// Counts an unknown token, so that tokens cannot be guessed without end.
    private func unknownToken(from subscriber: NetworkAddress?) -> HTTPError {
        _ = try? limits.unknownTokens.take(subscriber)
        return .unauthorized
    }
}

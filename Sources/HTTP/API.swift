internal import Accounts
internal import EventStore
internal import Events
public import HTTPServer
internal import Telemetry
internal import Users

/// The v1 API: its routes and their shared settings and modules.
public struct API: Sendable {
    /// The clients that may read.
    public enum Reads: String, Sendable, CaseIterable {
        case everyone = "public"
        case devices
    }

    public struct Settings: Sendable {
        public var appSecret: AppSecret
        public var reads: Reads
        /// The largest body of a request.
        public var bodyLimitBytes: Int
        /// The longest path and query of a request.
        public var targetLimitBytes: Int
        /// The limit for one client address; 0 for no limit.
        public var signUpsPerMinute: Int
        /// The limit of sign-ins and of account sign-ups for one client address; 0 for no limit.
        public var signInsPerMinute: Int
        /// The limit of sign-ins for one e-mail address; 0 for no limit.
        public var accountSignInsPerMinute: Int
        /// The limit for one device; 0 for no limit.
        public var writesPerMinute: Int

        public init(
            appSecret: AppSecret, reads: Reads = .everyone, bodyLimitBytes: Int = 64 * 1024, targetLimitBytes: Int = 8 * 1024,
            signUpsPerMinute: Int = 0, signInsPerMinute: Int = 0, accountSignInsPerMinute: Int = 0, writesPerMinute: Int = 0
        ) {
            self.appSecret = appSecret
            self.reads = reads
            self.bodyLimitBytes = bodyLimitBytes
            self.targetLimitBytes = targetLimitBytes
            self.signUpsPerMinute = signUpsPerMinute
            self.signInsPerMinute = signInsPerMinute
            self.accountSignInsPerMinute = accountSignInsPerMinute
            self.writesPerMinute = writesPerMinute
        }
    }

    /// Every route, in the order of the document.
    private(set) var routes: [Route] = []
    private let moduleMetrics: [@Sendable () -> [Metric]]
    /// Knows the callers that are devices.
    let users: UsersModule
    /// Knows the callers that are accounts.
    let accounts: AccountsModule
    /// Has the in-memory index, on which health depends.
    let events: EventsModule
    let settings: Settings
    let drain: Drain
    /// The clock of the limits for one minute.
    let rateClock: @Sendable () -> ContinuousClock.Instant
    let writes: RateLimiter?
    let isUnavailability: @Sendable (any Error) -> Bool
    let database: DatabaseCheck

    /// - Parameters:
    ///   - modules: all modules of the process
    ///   - rateClock: the clock of the limits for one minute
    ///   - isUnavailability: whether an error means that the same request may succeed later
    ///   - checkHealth: throws when requests cannot be served now
    public init(
        _ modules: ComposedModules,
        settings: Settings,
        drain: Drain = Drain(),
        rateClock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        isUnavailability: @escaping @Sendable (any Error) -> Bool,
        checkHealth: @escaping @Sendable () async throws -> Void
    ) {
        users = modules[UsersModule.self]
        accounts = modules[AccountsModule.self]
        events = modules[EventsModule.self]
        self.settings = settings
        self.drain = drain
        self.rateClock = rateClock
        writes = RateLimiter("writes", perMinute: settings.writesPerMinute, now: rateClock)
        self.isUnavailability = isUnavailability
        database = DatabaseCheck(checkHealth)
        moduleMetrics = modules.metrics
        if settings.reads == .devices { users.tokenEndings?.start() }
        routes = modules.routes.flatMap { $0(self) } + serviceRoutes
    }
}

extension API {
    /// The metrics of what the modules keep in memory.
    var metrics: [Metric] { moduleMetrics.flatMap { $0() } }

    /// The user of a device.
    /// - Throws: `HTTPError.unauthorized` if there is no token or the device is unknown, `PostgresError`
    func caller(_ token: DeviceToken?) async throws -> UserID {
        guard let token, let user = try await users.user(of: token) else { throw HTTPError.unauthorized }
        return user
    }

    /// Carries out a command for the user of a device, without a query for the user if the command's append can check the token.
    /// - Parameter command: must append under the condition, or throw `UncheckedConditionError` or another error
    /// - Throws: what ``caller(_:)`` and the command throw
    func withCaller<Result>(
        _ token: DeviceToken, _ context: CommandContext, _ command: (UserID, AppendCondition?) async throws -> Result
    ) async throws -> Result {
        // A repeated command with a key appends nothing, so that nothing checks the token.
        guard context.key == nil else { return try await command(try await caller(token), nil) }
        let result = try await users.withUser(of: token) { user, condition in
            do { return try await command(user, condition) } catch is HTTPError where condition != nil {
                // An unknown token is refused first.
                throw UncheckedConditionError()
            }
        }
        guard let result else { throw HTTPError.unauthorized }
        return result
    }

    /// The device of a write, before its body is read. ``caller(_:)`` refuses an unknown token after the body was checked.
    /// - Throws: `HTTPError.unauthorized` without a token, `HTTPError.tooManyRequests(_:)`
    func requireDevice(_ request: Request) throws(HTTPError) -> AuthenticatedDevice {
        guard let token = request.deviceToken else { throw .unauthorized }
        return AuthenticatedDevice(token: token, allowance: try writes?.take(token.secret))
    }

    /// Returns the user of a reading request; `nil` if the request has no token or an unknown token.
    /// - Throws: `PostgresError`
    func reader(_ request: Request) async throws -> UserID? {
        guard let token = request.deviceToken else { return nil }
        return try await users.user(of: token)
    }

    /// Lets everyone read, or devices only, as the settings say.
    /// - Throws: what ``caller(_:)`` throws
    func requireReader(_ request: Request) async throws {
        switch settings.reads {
        case .everyone: break
        case .devices: _ = try await caller(request.deviceToken)
        }
    }
}

/// The device that sends a write.
struct AuthenticatedDevice {
    var token: DeviceToken
    /// How many more writes the device may send now; `nil` without a limit.
    var allowance: RateAllowance?
}

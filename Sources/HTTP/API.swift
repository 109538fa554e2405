public import Attendances
public import Events
public import HTTPServer
public import Users

/// The v1 API: the modules it is made of, and how it is to behave.
public struct API: Sendable {
    /// Who may read.
    public enum Reads: String, Sendable, CaseIterable {
        case everyone = "public"
        case devices
    }

    public struct Settings: Sendable {
        public var appSecret: AppSecret
        public var reads: Reads
        /// Of a request's body.
        public var bodyLimitBytes: Int
        /// Of a request's path and query.
        public var targetLimitBytes: Int
        /// Of one client address; 0: as many as come.
        public var signUpsPerMinute: Int
        /// Of one device; 0: as many as come.
        public var writesPerMinute: Int

        public init(
            appSecret: AppSecret, reads: Reads = .everyone, bodyLimitBytes: Int = 64 * 1024, targetLimitBytes: Int = 8 * 1024,
            signUpsPerMinute: Int = 0, writesPerMinute: Int = 0
        ) {
            self.appSecret = appSecret
            self.reads = reads
            self.bodyLimitBytes = bodyLimitBytes
            self.targetLimitBytes = targetLimitBytes
            self.signUpsPerMinute = signUpsPerMinute
            self.writesPerMinute = writesPerMinute
        }
    }

    let users: UsersModule
    let events: EventsModule
    let attendances: AttendancesModule
    let settings: Settings
    let drain: Drain
    let signUps: RateLimiter?
    let writes: RateLimiter?
    let isUnavailability: @Sendable (any Error) -> Bool
    let database: DatabaseCheck

    /// - Parameters:
    ///   - isUnavailability: whether an error means that the same request may succeed later
    ///   - checkHealth: throws when requests cannot be served now
    public init(
        users: UsersModule,
        events: EventsModule,
        attendances: AttendancesModule,
        settings: Settings,
        drain: Drain = Drain(),
        isUnavailability: @escaping @Sendable (any Error) -> Bool,
        checkHealth: @escaping @Sendable () async throws -> Void
    ) {
        self.users = users
        self.events = events
        self.attendances = attendances
        self.settings = settings
        self.drain = drain
        signUps = RateLimiter("sign-ups", perMinute: settings.signUpsPerMinute)
        writes = RateLimiter("writes", perMinute: settings.writesPerMinute)
        self.isUnavailability = isUnavailability
        database = DatabaseCheck(checkHealth)
    }
}

extension API {
    /// Every route, in the order of the document.
    var routes: [Route] { userRoutes + eventRoutes + attendanceRoutes + serviceRoutes }

    /// Whose device that is.
    /// - Throws: ``HTTPError/unauthorized`` for none and for an unknown one
    func caller(_ token: DeviceToken?) async throws -> UserID {
        guard let token, let user = try await users.user(of: token) else { throw HTTPError.unauthorized }
        return user
    }

    /// A write without a token is refused before anything else is looked at; an unknown one only after the body.
    func requireWriter(_ request: Request) throws(HTTPError) -> Writer {
        guard let token = request.deviceToken else { throw .unauthorized }
        return Writer(token: token, allowance: try writes?.take(token.secret))
    }

    func requireReader(_ request: Request) async throws {
        switch settings.reads {
        case .everyone: break
        case .devices: _ = try await caller(request.deviceToken)
        }
    }
}

/// The device that asks for a write, and how many more it may ask for.
struct Writer {
    var token: DeviceToken
    var allowance: RateAllowance?
}

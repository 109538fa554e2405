public import Attendances
public import Events
internal import Hummingbird
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

        public init(appSecret: AppSecret, reads: Reads = .everyone, bodyLimitBytes: Int = 64 * 1024) {
            self.appSecret = appSecret
            self.reads = reads
            self.bodyLimitBytes = bodyLimitBytes
        }
    }

    let users: UsersModule
    let events: EventsModule
    let attendances: AttendancesModule
    let settings: Settings
    let isUnavailability: @Sendable (any Error) -> Bool
    let checkHealth: @Sendable () async throws -> Void

    /// - Parameters:
    ///   - isUnavailability: whether an error means that the same request may succeed later
    ///   - checkHealth: throws when requests cannot be served now
    public init(
        users: UsersModule,
        events: EventsModule,
        attendances: AttendancesModule,
        settings: Settings,
        isUnavailability: @escaping @Sendable (any Error) -> Bool,
        checkHealth: @escaping @Sendable () async throws -> Void
    ) {
        self.users = users
        self.events = events
        self.attendances = attendances
        self.settings = settings
        self.isUnavailability = isUnavailability
        self.checkHealth = checkHealth
    }
}

extension API {
    /// Every route, in the order of the document.
    var routes: [Route] { userRoutes + eventRoutes + attendanceRoutes + serviceRoutes }

    /// Whose device that is.
    /// - Throws: ``Refusal/unauthorized`` for none and for an unknown one
    func caller(_ token: DeviceToken?) async throws -> UserID {
        guard let token, let user = try await users.user(of: token) else { throw Refusal.unauthorized }
        return user
    }

    /// A write without a token is refused before anything else is looked at; an unknown one only after the body.
    func requireToken(_ request: Request) throws(Refusal) -> DeviceToken {
        guard let token = request.deviceToken else { throw .unauthorized }
        return token
    }

    func requireReader(_ request: Request) async throws {
        switch settings.reads {
        case .everyone: break
        case .devices: _ = try await caller(request.deviceToken)
        }
    }
}

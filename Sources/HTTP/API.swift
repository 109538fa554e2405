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
        public var appSecret: SharedSecret
        public var reads = Reads.everyone
        /// Under which browsers find the pages of events, which calendars name; `nil` if they have none or it is not known.
        public var pageOrigin: Origin?
        /// The limit for one client address; 0 for no limit.
        public var signUpsPerMinute = 0
        /// The quota of one client address for sign-ups of every kind; 0 for no quota.
        public var signUpsPerDay = 0
        /// The limit of sign-ins and of account sign-ups for one client address; 0 for no limit.
        public var signInsPerMinute = 0
        /// The limit of sign-ins for one e-mail address; 0 for no limit.
        public var accountSignInsPerMinute = 0
        /// The limit for one user, and for the unknown tokens of one client address; 0 for no limit.
        public var writesPerMinute = 0
        /// The limit for one client address; 0 for no limit.
        public var addressWritesPerMinute = 0

        public init(appSecret: SharedSecret) { self.appSecret = appSecret }
    }

    /// The largest body of a request.
    public static let bodyLimitBytes = 65_536
    /// The longest path and query of a request.
    public static let targetLimitBytes = 8_192

    let apps: Set<ServedApp>
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
    /// The limiters that several routes share, the map page's among them.
    public let limits: SharedLimits
    let database: DatabaseCheck
    let mayAnswer: @Sendable () -> Bool

    /// - Parameters:
    ///   - modules: all modules of the process
    ///   - rateClock: the clock of the limits for one minute
    ///   - mayAnswer: whether requests may be answered now, except those for the health
    ///   - checkHealth: throws when requests cannot be served now
    public init(
        _ modules: ComposedModules,
        settings: Settings,
        drain: Drain = Drain(),
        rateClock: @escaping @Sendable () -> ContinuousClock.Instant = { .now },
        mayAnswer: @escaping @Sendable () -> Bool = { true },
        checkHealth: @escaping @Sendable () async throws -> Void
    ) {
        apps = modules.apps
        users = modules[UsersModule.self]
        accounts = modules[AccountsModule.self]
        events = modules[EventsModule.self]
        self.settings = settings
        self.drain = drain
        self.rateClock = rateClock
        limits = SharedLimits(settings, now: rateClock)
        database = DatabaseCheck(checkHealth)
        self.mayAnswer = mayAnswer
        moduleMetrics = modules.metrics
        routes = modules.routes.flatMap { $0(self) } + erasureRoutes + serviceRoutes
    }
}

extension API {
    /// The metrics of what the modules keep in memory.
    var metrics: [Metric] { moduleMetrics.flatMap { $0() } }
}

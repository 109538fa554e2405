internal import EventStore
internal import Foundation
internal import HTTP
internal import HTTPServer
internal import Logging
internal import Telemetry
internal import Web

/// The settings in force: from the command line, the environment, and `.env` in the working directory. A new setting is a property, and
/// the lines of the initializer that read the property. A test compares docs/settings.md with ``all``.
struct Settings: Sendable {
    static let environmentFile = ".env"

    let appSecret: String?
    let previousAppSecret: String?
    let databaseURL: String?
    let host: String
    let port: Int
    let data: String
    let postgresPrograms: String?
    let migrates: Bool
    let erasures: String?
    let databaseConnections: Int
    let isDatabasePooled: Bool
    let statementTimeoutSeconds: Int
    let trustedProxies: TrustedProxies
    let apps: Set<ServedApp>
    let reads: API.Reads
    let corsOrigins: CORSOrigins
    /// `nil`: no map page is served.
    let webOrigins: WebOrigins?
    let tiles: Tiles?
    let sessionsPerMinute: Int
    let connections: Int
    let connectionsPerAddress: Int
    let streams: Int
    let streamsPerAddress: Int
    let requests: Int
    let signUpsPerMinute: Int
    let signUpsPerDay: Int
    let signInsPerMinute: Int
    let accountSignInsPerMinute: Int
    let writesPerMinute: Int
    let addressWritesPerMinute: Int
    let eventsPerUser: Int
    let drainSeconds: Int
    let indexMegabytes: Int
    let adminHost: String
    let adminPort: Int
    let adminToken: String?
    let logLevel: Logger.Level
    let logFormat: LogFormat

    /// Every setting, in the order of docs/settings.md.
    let all: [Setting]

    /// Reads every setting. The reader keeps an error for each value that cannot be used.
    init(_ reader: inout SettingReader) {
        appSecret = reader.optional(
            "TB_APP_SECRET",
            "The secret that the app sends in tb-app-secret to prove its identity.",
            documentedDefault: "generated and kept in .env on the private PostgreSQL; required with DATABASE_URL",
            format: Self.appSecretFormat, isSecret: true, isValid: SharedSecret.isUsable)
        previousAppSecret = reader.optional(
            "HUMON_PREVIOUS_APP_SECRET",
            "The secret that older releases of the app send; humon accepts both while the secret changes.",
            format: Self.appSecretFormat, isSecret: true, isValid: SharedSecret.isUsable)
        databaseURL = reader.optional(
            "DATABASE_URL", "The connection URL of the database; libpq defines its parameters, such as sslmode.",
            documentedDefault: "none: a private PostgreSQL", format: "a URL of PostgreSQL", isSecret: true)
        host = reader.text(
            "HUMON_HOST", "The address that serve listens on.", default: "127.0.0.1", format: "an address or host name")
        port = reader.number(
            "HUMON_PORT", "The port that serve listens on; with 0 the system chooses a free port.", default: 8080,
            in: 0...65_535)
        data = reader.value(
            "HUMON_DATA", "The directory of the private PostgreSQL.", default: Self.defaultData, text: Self.defaultData,
            documentedDefault: "/var/lib/humon for root and humon, ~/.local/share/humon for other users", format: "a path",
            parse: { $0 })
        postgresPrograms = reader.optional(
            "HUMON_POSTGRES_BIN", "The directory with the programs of PostgreSQL 15 or later.",
            documentedDefault: "the newest installation")
        migrates = reader.flag(
            "HUMON_MIGRATE", "Whether serve applies missing migrations; with false it refuses to start without them.",
            default: true)
        erasures = reader.optional(
            "HUMON_ERASURES",
            "A file for the erasures of persons, on a local disk, for each node its own. A restored log gets them back from it before serve answers."
        )
        databaseConnections = reader.number(
            "HUMON_DATABASE_CONNECTIONS",
            "The number of connections for reading. Writing, listening, stored formats, and the index take one more each, erasures two.",
            default: 4, in: 1...100)
        isDatabasePooled = reader.flag(
            "HUMON_DATABASE_POOLED", "Whether the URL leads to a pooler in transaction mode, such as PgBouncer.", default: false)
        statementTimeoutSeconds = reader.number(
            "HUMON_STATEMENT_TIMEOUT_SECONDS", "The maximum duration of one statement of a request.", default: 10,
            in: 1...3_600)
        trustedProxies = reader.value(
            "HUMON_TRUSTED_PROXIES",
            "The proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Request-Id humon trusts.",
            default: .loopback, text: "127.0.0.0/8,::1",
            format: "networks such as 10.0.0.0/8 or 2001:db8::/32 and addresses, separated by commas, or none",
            parse: { TrustedProxies($0) })
        apps = reader.value(
            "HUMON_APPS",
            "The apps that serve serves: events for the map of events, tasks for the to-do app. What is left out has no routes, pages and metrics.",
            default: .all, text: "events,tasks", format: "events, tasks, or both with a comma between them",
            parse: { Set($0) })
        reads = reader.choice(
            "HUMON_READS", "The clients that may read: public for all, devices for devices that signed up.", default: .everyone)
        corsOrigins = reader.value(
            "HUMON_CORS_ORIGINS", "The origins whose pages may use the API in a browser.", default: .none, text: "",
            documentedDefault: "none", format: "origins such as https://app.example.org, separated by commas, or *",
            parse: { CORSOrigins($0) })
        webOrigins = reader.value(
            "HUMON_WEB_ORIGINS",
            "The origins that the map page has for its visitors; at any other name the page shows events and changes none. Pages of events and calendars name the first one as their address. loopback counts for clients on this machine only; with off there is no map page.",
            default: .loopback, text: "loopback",
            format: "origins such as https://map.example.org, separated by commas, or loopback, or off",
            parse: { $0 == "off" ? .some(nil) : WebOrigins($0).map(Optional.some) })
        tiles = reader.value(
            "HUMON_TILES",
            "A server of map tiles and the attribution that it asks for; without it the map shows coasts, countries and cities.",
            default: nil, text: "", documentedDefault: "none",
            format: "a URL with {z}, {x}, {y}, perhaps {r}, no other placeholder, a space, and a text",
            parse: { text in Tiles(text).map(Optional.some) })
        sessionsPerMinute = reader.number(
            "HUMON_SESSIONS_PER_MINUTE",
            "The maximum number of sign-ups on the map page per client address and minute, further ones get 429; 0 means no limit.",
            default: 10, in: 0...1_000_000)
        connections = reader.number(
            "HUMON_CONNECTIONS",
            "The maximum number of open client connections, fewer if the limit of open files is lower; a further one replaces the longest idle, or waits. A client address with a limit gets at most a quarter, streams three quarters.",
            default: 16_000, in: 1...1_000_000)
        connectionsPerAddress = reader.number(
            "HUMON_CONNECTIONS_PER_ADDRESS",
            "The maximum number of open connections per client address (one /64 in IPv6), further ones are closed; trusted proxies have none; 0 means no limit.",
            default: 1_000, in: 0...1_000_000)
        streams = reader.number(
            "HUMON_STREAMS",
            "The maximum number of open streams of changes, further ones get 503; each takes one of HUMON_CONNECTIONS.",
            default: 10_000, in: 0...1_000_000)
        streamsPerAddress = reader.number(
            "HUMON_STREAMS_PER_ADDRESS",
            "The maximum number of open streams of changes per client address (one /64 in IPv6), further ones get 429; 0 means no limit.",
            default: 100, in: 0...1_000_000)
        requests = reader.number(
            "HUMON_REQUESTS",
            "The maximum number of reads, of writes, and of sign-ups and sign-ins, that wait for PostgreSQL; further ones of a kind get 503 immediately.",
            default: 256, in: 1...100_000)
        signUpsPerMinute = reader.number(
            "HUMON_SIGN_UPS_PER_MINUTE",
            "The maximum number of sign-ups per client address and minute, further ones get 429; 0 means no limit.", default: 0,
            in: 0...1_000_000)
        signUpsPerDay = reader.number(
            "HUMON_SIGN_UPS_PER_DAY",
            "The maximum number of sign-ups of every kind per client address and day, further ones get 429; 0 means no limit.",
            default: 0, in: 0...1_000_000_000)
        signInsPerMinute = reader.number(
            "HUMON_SIGN_INS_PER_MINUTE",
            "The maximum number of sign-ins, and of account sign-ups, per client address and minute, further ones get 429; 0 means no limit.",
            default: 20, in: 0...1_000_000)
        accountSignInsPerMinute = reader.number(
            "HUMON_ACCOUNT_SIGN_INS_PER_MINUTE",
            "The maximum number of sign-ins per account and minute, further ones get 429; 0 means no limit.", default: 10,
            in: 0...1_000_000)
        writesPerMinute = reader.number(
            "HUMON_WRITES_PER_MINUTE",
            "The maximum number of writes per user and minute, and of unknown tokens per client address and minute, further ones get 429; 0 means no limit of writes, and 120 unknown tokens.",
            default: 0, in: 0...1_000_000)
        addressWritesPerMinute = reader.number(
            "HUMON_ADDRESS_WRITES_PER_MINUTE",
            "The maximum number of writes per client address and minute, further ones get 429; 0 means no limit.", default: 0,
            in: 0...1_000_000)
        eventsPerUser = reader.number(
            "HUMON_EVENTS_PER_USER",
            "The maximum number of live events of a user; a further creation gets 422; 0 means no limit. Creations at the same moment may exceed it, as may all that HUMON_WRITES_PER_MINUTE lets through while a server loads its index.",
            default: 10_000, in: 0...1_000_000_000)
        drainSeconds = reader.number(
            "HUMON_DRAIN_SECONDS", "The time that a stopping server continues to serve while its health says not ready.",
            default: 0, in: 0...3_600)
        indexMegabytes = reader.number(
            "HUMON_INDEX_MEGABYTES",
            "The memory for the index of events; from there on the server refuses new events with 503, and goes on otherwise.",
            default: 1_024, in: 1...1_000_000)
        adminHost = reader.text(
            "HUMON_ADMIN_HOST", "The address that serve listens on for operators and their tools.", default: "127.0.0.1",
            format: "an address or host name")
        adminPort = reader.number(
            "HUMON_ADMIN_PORT",
            "The port of /health/ready, /metrics and /index/check; with 0 the system chooses a free port.", default: 8081,
            in: 0...65_535)
        adminToken = reader.optional(
            "HUMON_ADMIN_TOKEN",
            "The bearer token that /metrics and /index/check require; mandatory unless HUMON_ADMIN_HOST is loopback.",
            format: "16 or more visible ASCII characters", isSecret: true,
            isValid: Self.isBearerToken)
        logLevel = reader.choice(
            "HUMON_LOG_LEVEL",
            "The lowest level of the messages on standard error; info adds one message for each request.", default: .notice)
        logFormat = reader.choice(
            "HUMON_LOG_FORMAT", "The format of those messages: text for people, json for programs.", default: .text)
        all = reader.settings
    }
    private static let appSecretFormat =
        "\(SharedSecret.minimumBytes) or more visible ASCII characters without a comma"

    /// A shorter token can be guessed; other characters do not fit into a header field.
    private static let tokenMinimumBytes = 16

    private static func isBearerToken(_ text: String) -> Bool {
        text.utf8.count >= tokenMinimumBytes && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static var defaultData: String {
        // The package's account has its home there.
        let shared = "/var/lib/humon"
        if getuid() == 0 || NSHomeDirectoryForUser(NSUserName()) == shared { return shared }
        let environment = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
        let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
        return (environment ?? home + "/.local/share") + "/humon"
    }
}

extension Settings {
    /// - Parameters:
    ///   - database: the URL from the command line, which replaces `DATABASE_URL` and its file
    ///   - refusesUnknown: only the doctor continues with a misspelt setting
    /// - Throws: ``SettingsError`` for an unusable value, an unknown `HUMON_…` name, and a line of `.env` that cannot be read
    static func load(database: String? = nil, refusesUnknown: Bool = true) throws(SettingsError) -> Settings {
        var reader = try SettingReader.ofProcess(commandLine: database.map { ["DATABASE_URL": $0] } ?? [:])
        let settings = Settings(&reader)
        if let error = ((refusesUnknown ? reader.unknownNames : []) + reader.errors).first { throw error }
        return settings
    }

    /// The place of a value.
    func source(of name: String) -> SettingSource? { all.first { $0.name == name }?.source }

    /// The base URL of the API for a client on this machine.
    func address(port: Int) -> String { Self.address(host, port) }

    /// The base URL of the operators' address.
    func adminAddress(port: Int) -> String { Self.address(adminHost, port) }

    /// The erasure list, if there is one.
    var erasureFile: ErasureFile? { erasures.map { ErasureFile(path: $0) } }

    /// The database that commands work on, without its URL, which may contain a password.
    var databaseDescription: String {
        switch source(of: "DATABASE_URL") {
        case .byDefault, nil: "the private PostgreSQL in \(data)"
        case .commandLine: "the database that --database names"
        case .environment, .environmentFile: "the database that DATABASE_URL names"
        case .file: "the database that DATABASE_URL_FILE names"
        }
    }

    /// - Throws: ``SettingsError/missingAdminToken(host:)`` if other machines can reach the operators' address without a token
    func refuseOpenAdminAddress() throws(SettingsError) {
        guard adminToken != nil || Self.isLoopback(adminHost) else { throw .missingAdminToken(host: adminHost) }
    }

    private static func isLoopback(_ host: String) -> Bool {
        NetworkAddress(host)?.isLoopback ?? (host.lowercased() == "localhost")
    }

    private static func address(_ host: String, _ port: Int) -> String {
        "http://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}

internal import Foundation
internal import HTTP
internal import HTTPServer
internal import Logging
internal import Telemetry
internal import Transparency
internal import Web

extension Settings {
    /// Every setting, in the order of docs/settings.md. This is the only place to change for a new setting: the property's name is
    /// its name in ``Settings``, and a test holds docs/settings.md equal to this list.
    struct Declarations: Sendable {
        static let shared = Declarations()

        /// Reflection lists the properties in the order of their declaration, so that none can be missing here.
        static let all: [any SettingDeclaration] = Mirror(reflecting: shared).children.compactMap {
            $0.value as? any SettingDeclaration
        }

        let appSecret = Setting<String?>.optional(
            "TB_APP_SECRET",
            "The secret that the app sends in tb-app-secret to prove its identity.",
            documentedDefault: "generated and kept in .env on the private PostgreSQL; required with DATABASE_URL",
            format: appSecretFormat, isSecret: true, fileName: "TB_APP_SECRET_FILE", isValid: AppSecret.isUsable)
        let appSecretFile = Setting<String?>.path(
            "TB_APP_SECRET_FILE", "A file with the app's secret, instead of TB_APP_SECRET.")
        let previousAppSecret = Setting<String?>.optional(
            "HUMON_PREVIOUS_APP_SECRET",
            "The secret that older releases of the app send; humon accepts both while the secret changes.",
            format: appSecretFormat, isSecret: true, fileName: "HUMON_PREVIOUS_APP_SECRET_FILE", isValid: AppSecret.isUsable)
        let previousAppSecretFile = Setting<String?>.path(
            "HUMON_PREVIOUS_APP_SECRET_FILE", "A file with that secret, instead of HUMON_PREVIOUS_APP_SECRET.")
        let databaseURL = Setting<String?>.optional(
            "DATABASE_URL", "The connection URL of the database; libpq defines its parameters, such as sslmode.",
            documentedDefault: "none: a private PostgreSQL", format: "a URL of PostgreSQL", isSecret: true,
            fileName: "DATABASE_URL_FILE")
        let databaseURLFile = Setting<String?>.path(
            "DATABASE_URL_FILE", "A file with the connection URL, instead of DATABASE_URL.")
        let host = Setting<String>.text(
            "HUMON_HOST", "The address that serve listens on.", default: "127.0.0.1", format: "an address or host name")
        let port = Setting<Int>.number(
            "HUMON_PORT", "The port that serve listens on; with 0 the system chooses a free port.", default: 8080,
            in: 0...65_535)
        let treeKey = Setting<String?>.path(
            "HUMON_TREE_KEY",
            "A PEM file with the Ed25519 key that signs the checkpoints of the log; with it serve keeps a Merkle tree over the log and publishes it at /tlog, to everybody."
        )
        let treeName = Setting<String?>.optional(
            "HUMON_TREE_NAME", "The name of the log in its checkpoints: a URL without a scheme, such as example.org/log.",
            format: "a name of at most 255 bytes without spaces and plus signs", isValid: VerifierKey.isName)
        let data = Setting<String>(
            "HUMON_DATA", "The directory of the private PostgreSQL.", default: defaultData, text: defaultData,
            documentedDefault: "/var/lib/humon for root, ~/.local/share/humon for other users", format: "a path",
            parse: { $0 })
        let postgresPrograms = Setting<String?>.path(
            "HUMON_POSTGRES_BIN", "The directory with the programs of PostgreSQL 15 or later.",
            documentedDefault: "the newest installation")
        let migrates = Setting<Bool>.flag(
            "HUMON_MIGRATE", "Whether serve applies missing migrations; with false it refuses to start without them.",
            default: true)
        let erasures = Setting<String?>.path(
            "HUMON_ERASURES",
            "A file with the erasures of persons, outside of the database, on storage that all nodes share. A restored log gets them back from it before serve answers."
        )
        let backupDays = Setting<Int>.number(
            "HUMON_BACKUP_DAYS",
            "For how many days backups and archived WAL are kept: the command that compacts after an erasure names the day on which the last copy ends. 0 means that nobody said.",
            default: 0, in: 0...36_500)
        let databaseConnections = Setting<Int>.number(
            "HUMON_DATABASE_CONNECTIONS",
            "The number of connections for reading. Writing, listening, stored formats and the index take one more each.",
            default: 4, in: 1...100)
        let isDatabasePooled = Setting<Bool>.flag(
            "HUMON_DATABASE_POOLED", "Whether the URL leads to a pooler in transaction mode, such as PgBouncer.", default: false)
        let statementTimeoutSeconds = Setting<Int>.number(
            "HUMON_STATEMENT_TIMEOUT_SECONDS", "The maximum duration of one statement of a request.", default: 10,
            in: 1...3_600)
        let trustedProxies = Setting<TrustedProxies>(
            "HUMON_TRUSTED_PROXIES",
            "The proxies whose X-Forwarded-For, X-Forwarded-Proto and X-Request-Id humon trusts.",
            default: .loopback, text: "127.0.0.0/8,::1",
            format: "networks such as 10.0.0.0/8 or 2001:db8::/32 and addresses, separated by commas, or none",
            parse: { TrustedProxies($0) })
        let apps = Setting<Set<ServedApp>>(
            "HUMON_APPS",
            "The apps that serve serves: events for the map of events, tasks for the to-do app. What is left out has no routes, pages and metrics.",
            default: .all, text: "events,tasks", format: "events, tasks, or both with a comma between them",
            parse: { Set($0) })
        let reads = Setting<API.Reads>.choice(
            "HUMON_READS", "The clients that may read: public for all, devices for devices that signed up.", default: .everyone)
        let corsOrigins = Setting<CORSOrigins>(
            "HUMON_CORS_ORIGINS", "The origins whose pages may use the API in a browser.", default: .none, text: "",
            documentedDefault: "none", format: "origins such as https://app.example.org, separated by commas, or *",
            parse: { CORSOrigins($0) })
        let web = Setting<WebSwitch>.choice("HUMON_WEB", "Whether serve shows the map page at /.", default: .on)
        let webOrigins = Setting<WebOrigins>(
            "HUMON_WEB_ORIGINS",
            "The origins that the map page has for its visitors; at any other name the page shows events and changes none. loopback counts for clients on this machine only.",
            default: .loopback, text: "loopback",
            format: "origins such as https://map.example.org, separated by commas, or loopback", parse: { WebOrigins($0) })
        let tiles = Setting<Tiles?>(
            "HUMON_TILES",
            "A server of map tiles for the page, with the attribution that it asks for; without it the map shows coasts, countries and cities.",
            default: nil, text: "", documentedDefault: "none",
            format: "a URL with {z}, {x} and {y}, a space, and a text", parse: { text in Tiles(text).map(Optional.some) })
        let sessionsPerMinute = Setting<Int>.number(
            "HUMON_SESSIONS_PER_MINUTE",
            "The maximum number of sign-ups on the map page per client address and minute, further ones get 429; 0 means no limit.",
            default: 10, in: 0...1_000_000)
        let allSessionsPerMinute = Setting<Int>.number(
            "HUMON_ALL_SESSIONS_PER_MINUTE",
            "The maximum number of sign-ups on the map page of this node per minute, further ones get 429; 0 means no limit.",
            default: 600, in: 0...1_000_000)
        let bodyLimitBytes = Setting<Int>.number(
            "HUMON_BODY_LIMIT_BYTES", "The maximum size of a request body.", default: 65_536, in: 1_024...16_777_216)
        let targetLimitBytes = Setting<Int>.number(
            "HUMON_URL_LIMIT_BYTES", "The maximum length of a request's path and query.", default: 8_192, in: 256...65_536)
        let headerLimitBytes = Setting<Int>.number(
            "HUMON_HEADER_LIMIT_BYTES", "The maximum size of a request line and its header fields together.", default: 32_768,
            in: 1_024...1_048_576)
        let arrivalTimeoutSeconds = Setting<Int>.number(
            "HUMON_ARRIVAL_TIMEOUT_SECONDS",
            "The maximum time until a request has arrived, and until a new connection sends its first byte.", default: 20,
            in: 1...3_600)
        let answerTimeoutSeconds = Setting<Int>.number(
            "HUMON_ANSWER_TIMEOUT_SECONDS", "The maximum time from the arrival of a request to its response.", default: 30,
            in: 1...3_600)
        let idleTimeoutSeconds = Setting<Int>.number(
            "HUMON_IDLE_TIMEOUT_SECONDS", "The maximum time that a client's connection may be idle.", default: 75, in: 1...3_600)
        let connections = Setting<Int>.number(
            "HUMON_CONNECTIONS", "The maximum number of open client connections; further ones wait to be accepted.",
            default: 16_000, in: 1...1_000_000)
        let connectionsPerAddress = Setting<Int>.number(
            "HUMON_CONNECTIONS_PER_ADDRESS",
            "The maximum number of open connections per client address (one /64 in IPv6), further ones are closed; trusted proxies have none; 0 means no limit.",
            default: 1_000, in: 0...1_000_000)
        let streams = Setting<Int>.number(
            "HUMON_STREAMS",
            "The maximum number of open streams of changes, further ones get 503; each takes one of HUMON_CONNECTIONS.",
            default: 10_000, in: 0...1_000_000)
        let streamsPerAddress = Setting<Int>.number(
            "HUMON_STREAMS_PER_ADDRESS",
            "The maximum number of open streams of changes per client address (one /64 in IPv6), further ones get 429; 0 means no limit.",
            default: 100, in: 0...1_000_000)
        let streamsPerUser = Setting<Int>.number(
            "HUMON_STREAMS_PER_USER",
            "The maximum number of open streams of changes per user, if HUMON_READS is devices, further ones get 429; 0 means no limit.",
            default: 20, in: 0...1_000_000)
        let streamOpeningsPerMinute = Setting<Int>.number(
            "HUMON_STREAM_OPENINGS_PER_MINUTE",
            "The maximum number of streams of changes that a client address opens per minute, further ones get 429; 0 means no limit.",
            default: 600, in: 0...1_000_000)
        let requests = Setting<Int>.number(
            "HUMON_REQUESTS",
            "The maximum number of reads, of writes, and of sign-ups and sign-ins, that wait for PostgreSQL; further ones of a kind get 503 immediately.",
            default: 256, in: 1...100_000)
        let bufferMegabytes = Setting<Int>.number(
            "HUMON_BUFFER_MEGABYTES",
            "The memory for unsent responses and arriving bodies; above it, large responses and bodies get 503.", default: 256,
            in: 8...1_000_000)
        let signUpsPerMinute = Setting<Int>.number(
            "HUMON_SIGN_UPS_PER_MINUTE",
            "The maximum number of sign-ups per client address and minute, further ones get 429; 0 means no limit.", default: 0,
            in: 0...1_000_000)
        let signUpsPerDay = Setting<Int>.number(
            "HUMON_SIGN_UPS_PER_DAY",
            "The maximum number of sign-ups of every kind per client address and day, further ones get 429; 0 means no limit.",
            default: 0, in: 0...1_000_000_000)
        let signInsPerMinute = Setting<Int>.number(
            "HUMON_SIGN_INS_PER_MINUTE",
            "The maximum number of sign-ins, and of account sign-ups, per client address and minute, further ones get 429; 0 means no limit.",
            default: 20, in: 0...1_000_000)
        let accountSignInsPerMinute = Setting<Int>.number(
            "HUMON_ACCOUNT_SIGN_INS_PER_MINUTE",
            "The maximum number of sign-ins per account and minute, further ones get 429; 0 means no limit.", default: 10,
            in: 0...1_000_000)
        let writesPerMinute = Setting<Int>.number(
            "HUMON_WRITES_PER_MINUTE",
            "The maximum number of writes per user and minute, and of unknown tokens per client address and minute, further ones get 429; 0 means no limit.",
            default: 0, in: 0...1_000_000)
        let addressWritesPerMinute = Setting<Int>.number(
            "HUMON_ADDRESS_WRITES_PER_MINUTE",
            "The maximum number of writes per client address and minute, further ones get 429; 0 means no limit.", default: 0,
            in: 0...1_000_000)
        let eventsPerUser = Setting<Int>.number(
            "HUMON_EVENTS_PER_USER",
            "The maximum number of live events of a user; a further creation gets 422; 0 means no limit.", default: 1_000_000,
            in: 0...1_000_000_000)
        let drainSeconds = Setting<Int>.number(
            "HUMON_DRAIN_SECONDS", "The time that a stopping server continues to serve while its health says not ready.",
            default: 0, in: 0...3_600)
        let shutdownSeconds = Setting<Int>.number(
            "HUMON_SHUTDOWN_SECONDS", "The time that open requests then have before the server cuts them off.", default: 20,
            in: 1...3_600)
        let indexMegabytes = Setting<Int>.number(
            "HUMON_INDEX_MEGABYTES",
            "The memory for the index of events; above it, and with 0, humon reads events from PostgreSQL.", default: 1_024,
            in: 0...1_000_000)
        let adminHost = Setting<String>.text(
            "HUMON_ADMIN_HOST", "The address that serve listens on for operators and their tools.", default: "127.0.0.1",
            format: "an address or host name")
        let adminPort = Setting<Int>.number(
            "HUMON_ADMIN_PORT",
            "The port of /health/ready, /metrics and /index/check; with 0 the system chooses a free port.", default: 8081,
            in: 0...65_535)
        let adminToken = Setting<String?>.optional(
            "HUMON_ADMIN_TOKEN",
            "The bearer token that /metrics and /index/check require; mandatory unless HUMON_ADMIN_HOST is loopback.",
            format: "16 or more visible ASCII characters", isSecret: true, fileName: "HUMON_ADMIN_TOKEN_FILE",
            isValid: isBearerToken)
        let adminTokenFile = Setting<String?>.path(
            "HUMON_ADMIN_TOKEN_FILE", "A file with that token, instead of HUMON_ADMIN_TOKEN.")
        let logLevel = Setting<Logger.Level>.choice(
            "HUMON_LOG_LEVEL",
            "The lowest level of the messages on standard error; info adds one message for each request.", default: .notice)
        let logFormat = Setting<LogFormat>.choice(
            "HUMON_LOG_FORMAT", "The format of those messages: text for people, json for programs.", default: .text)

        private static let appSecretFormat =
            "\(AppSecret.minimumBytes) or more visible ASCII characters without a comma"

        /// A shorter token can be guessed; other characters do not fit into a header field.
        private static let tokenMinimumBytes = 16

        private static func isBearerToken(_ text: String) -> Bool {
            text.utf8.count >= tokenMinimumBytes && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }

        private static var defaultData: String {
            if getuid() == 0 { return "/var/lib/humon" }
            let environment = ProcessInfo.processInfo.environment["XDG_DATA_HOME"].flatMap { $0.hasPrefix("/") ? $0 : nil }
            let home = ProcessInfo.processInfo.environment["HOME"] ?? NSHomeDirectory()
            return (environment ?? home + "/.local/share") + "/humon"
        }
    }
}

/// Whether the map page is served.
enum WebSwitch: String, CaseIterable {
    case on
    case off
}

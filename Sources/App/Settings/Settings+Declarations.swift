internal import Configuration
internal import Foundation
internal import HTTP
internal import HTTPServer
internal import Logging
internal import SystemPackage
internal import Telemetry

extension Settings {
    /// Every setting with its type, default and help, in the order of the README.
    enum Keys {
        static let appSecret = Setting<String>.text(
            "TB_APP_SECRET", "What the app sends in tb-app-secret to prove that it is our app.",
            shownDefault: "made and kept in .env on the private PostgreSQL; required with DATABASE_URL", isSecret: true)
        static let appSecretFile = Setting<String>.text(
            "TB_APP_SECRET_FILE", "A file that holds the secret of the app, instead of TB_APP_SECRET.", shownDefault: "none")
        static let databaseURL = Setting<String>.text(
            "DATABASE_URL", "A libpq connection URL, with sslmode and the rest as libpq has them.",
            shownDefault: "none: a private PostgreSQL", isSecret: true)
        static let databaseURLFile = Setting<String>.text(
            "DATABASE_URL_FILE", "A file that holds the connection URL, instead of DATABASE_URL.", shownDefault: "none")
        static let host = Setting<String>.text("HUMON_HOST", "The address to listen on.", shownDefault: "127.0.0.1")
        static let port = Setting<Int>.number(
            "HUMON_PORT", "The port to listen on; 0 takes a free one.", default: 8080, in: 0...65_535)
        static let socket = Setting<String>.text(
            "HUMON_SOCKET", "The Unix socket to listen on, instead of address and port.", shownDefault: "none")
        static let socketMode = Setting<UInt32>(
            name: "HUMON_SOCKET_MODE", help: "Who may connect to it, as chmod writes it.", shownDefault: "660",
            parse: { text in UInt32(text, radix: 8).flatMap { $0 <= 0o777 ? $0 : nil } },
            expectation: "permissions such as 660 or 666")
        static let tlsCertificate = Setting<String>.text(
            "HUMON_TLS_CERTIFICATE",
            "The PEM file of the certificate and those it hangs on: the API speaks TLS then, and HTTP/2.",
            shownDefault: "none")
        static let tlsKey = Setting<String>.text(
            "HUMON_TLS_KEY", "The PEM file of the key of that certificate.", shownDefault: "none")
        static let data = Setting<String>.text(
            "HUMON_DATA", "The directory of the private PostgreSQL.",
            shownDefault: "/var/lib/humon for root, ~/.local/share/humon for others")
        static let postgresPrograms = Setting<String>.text(
            "HUMON_POSTGRES_BIN", "Where the programs of PostgreSQL 15 or later are.", shownDefault: "the newest found")
        static let migrates = Setting<Bool>.flag(
            "HUMON_MIGRATE", "Whether serve applies missing migrations; otherwise it refuses to start without them.",
            default: true)
        static let databaseConnections = Setting<Int>.number(
            "HUMON_DATABASE_CONNECTIONS",
            "Connections for reading; writing, listening, stored formats and the index take one more each.",
            default: 4,
            in: 1...100)
        static let isDatabasePooled = Setting<Bool>.flag(
            "HUMON_DATABASE_POOLED", "Whether a pooler in transaction mode (PgBouncer) stands before PostgreSQL.", default: false)
        static let statementTimeout = Setting<Int>.number(
            "HUMON_STATEMENT_TIMEOUT_SECONDS", "How long a statement of a request may take.", default: 10, in: 1...3_600)
        static let trustedProxies = Setting<TrustedProxies>(
            name: "HUMON_TRUSTED_PROXIES",
            help:
                "Whose X-Forwarded-For, X-Forwarded-Proto, Forwarded and X-Request-Id are believed; unix: who uses the socket.",
            shownDefault: "127.0.0.0/8,::1,unix", parse: { TrustedProxies($0) },
            expectation: "networks such as 10.0.0.0/8 or 2001:db8::/32, addresses and unix, between commas, or none")
        static let reads = Setting<API.Reads>.choice(
            "HUMON_READS", "Who may read: public, or devices that signed up.", default: .everyone, of: API.Reads.allCases)
        static let corsOrigins = Setting<CORSOrigins>(
            name: "HUMON_CORS_ORIGINS", help: "Whose pages in browsers may use the API: origins between commas, or *.",
            shownDefault: "none", parse: { CORSOrigins($0) },
            expectation: "origins such as https://app.example.org, between commas, or *")
        static let bodyLimit = Setting<Int>.number(
            "HUMON_BODY_LIMIT_BYTES", "The largest body of a request.", default: 65_536, in: 1_024...16_777_216)
        static let targetLimit = Setting<Int>.number(
            "HUMON_URL_LIMIT_BYTES", "The longest path and query of a request.", default: 8_192, in: 256...65_536)
        static let headerLimit = Setting<Int>.number(
            "HUMON_HEADER_LIMIT_BYTES", "The largest request line and header fields together.", default: 32_768,
            in: 1_024...1_048_576)
        static let arrivalTimeout = Setting<Int>.number(
            "HUMON_ARRIVAL_TIMEOUT_SECONDS", "How long a request may take to arrive, and a connection to begin.", default: 20,
            in: 1...3_600)
        static let answerTimeout = Setting<Int>.number(
            "HUMON_ANSWER_TIMEOUT_SECONDS", "How long the answer to a request may take from then on.", default: 30, in: 1...3_600)
        static let connections = Setting<Int>.number(
            "HUMON_CONNECTIONS", "Connections of clients at a time; more wait to be accepted.", default: 10_000,
            in: 1...1_000_000)
        static let requests = Setting<Int>.number(
            "HUMON_REQUESTS", "Requests at a time that wait for PostgreSQL; more are answered 503 at once.", default: 256,
            in: 1...100_000)
        static let buffer = Setting<Int>.number(
            "HUMON_BUFFER_MEGABYTES",
            "Unread responses and arriving bodies in memory; beyond it, large responses are answered 503.", default: 256,
            in: 8...1_000_000)
        static let signUpsPerMinute = Setting<Int>.number(
            "HUMON_SIGN_UPS_PER_MINUTE", "Sign-ups of one client address in a minute, more are answered 429; 0: no limit.",
            default: 0, in: 0...1_000_000)
        static let writesPerMinute = Setting<Int>.number(
            "HUMON_WRITES_PER_MINUTE", "Writes of one device in a minute, more are answered 429; 0: no limit.", default: 0,
            in: 0...1_000_000)
        static let idleTimeout = Setting<Int>.number(
            "HUMON_IDLE_TIMEOUT_SECONDS", "How long a connection of a client may be silent.", default: 75, in: 1...3_600)
        static let drain = Setting<Int>.number(
            "HUMON_DRAIN_SECONDS", "How long a server that is told to stop goes on while it tells proxies that it is not ready.",
            default: 0, in: 0...3_600)
        static let shutdown = Setting<Int>.number(
            "HUMON_SHUTDOWN_SECONDS", "How long open requests may take after that until they are cut off.", default: 20,
            in: 1...3_600)
        static let index = Setting<Int>.number(
            "HUMON_INDEX_MEGABYTES",
            "What the events may take in memory; beyond it, and with 0, they are read from PostgreSQL.", default: 1_024,
            in: 0...1_000_000)
        static let adminHost = Setting<String>.text(
            "HUMON_ADMIN_HOST", "The address to listen on for operators and their tools.", shownDefault: "127.0.0.1")
        static let adminPort = Setting<Int>.number(
            "HUMON_ADMIN_PORT", "The port there, of /health/ready, /metrics and /index/check; 0 takes a free one.",
            default: 8081, in: 0...65_535)
        static let adminToken = Setting<String>(
            name: "HUMON_ADMIN_TOKEN",
            help: "The bearer token that /metrics and /index/check ask for; required unless HUMON_ADMIN_HOST is loopback.",
            shownDefault: "none", isSecret: true, parse: { isBearerToken($0) ? $0 : nil },
            expectation: "16 or more visible ASCII characters")
        static let adminTokenFile = Setting<String>.text(
            "HUMON_ADMIN_TOKEN_FILE", "A file that holds that token, instead of HUMON_ADMIN_TOKEN.", shownDefault: "none")
        static let logLevel = Setting<Logger.Level>.choice(
            "HUMON_LOG_LEVEL", "The least important messages to write to standard error; at info that is one for each request.",
            default: .notice,
            of: Logger.Level.allCases)
        static let logFormat = Setting<LogFormat>.choice(
            "HUMON_LOG_FORMAT", "How serve writes them: text, or json with one object a line.", default: .text,
            of: LogFormat.allCases)
        static let traces = Setting<Traces>(
            name: "HUMON_TRACES",
            help:
                "Where spans go: none, log, or the URL of a collector's OTLP/HTTP, such as http://127.0.0.1:4318/v1/traces.",
            shownDefault: "none", parse: Traces.init, expectation: "none, log, or a URL of http or https")
        static let tracesRatio = Setting<Double>(
            name: "HUMON_TRACES_RATIO",
            help: "The part of requests that are traced, from 0 to 1; of those that belong to a trace, its sampling decides.",
            shownDefault: "1", parse: { Double($0).flatMap { (0...1).contains($0) ? $0 : nil } },
            expectation: "a number from 0 to 1")

        /// Name, default and sentence of each, in the order of the README.
        static let all: [(name: String, shownDefault: String, help: String)] = [
            shown(appSecret), shown(appSecretFile), shown(databaseURL), shown(databaseURLFile), shown(host), shown(port),
            shown(socket), shown(socketMode), shown(tlsCertificate), shown(tlsKey), shown(data), shown(postgresPrograms),
            shown(migrates), shown(databaseConnections), shown(isDatabasePooled), shown(statementTimeout), shown(trustedProxies),
            shown(reads), shown(corsOrigins), shown(bodyLimit), shown(targetLimit), shown(headerLimit), shown(arrivalTimeout),
            shown(answerTimeout), shown(idleTimeout), shown(connections), shown(requests), shown(buffer),
            shown(signUpsPerMinute), shown(writesPerMinute), shown(drain), shown(shutdown), shown(index), shown(adminHost),
            shown(adminPort),
            shown(adminToken), shown(adminTokenFile), shown(logLevel), shown(logFormat), shown(traces), shown(tracesRatio),
        ]

        /// Shorter ones are guessed; others do not fit into a header field.
        private static func isBearerToken(_ text: String) -> Bool {
            text.utf8.count >= 16 && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
        }

        private static func shown<Value>(_ setting: Setting<Value>) -> (name: String, shownDefault: String, help: String) {
            (setting.name, setting.shownDefault, setting.help)
        }
    }
}

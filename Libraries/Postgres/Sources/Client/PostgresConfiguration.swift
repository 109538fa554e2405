/// Where the database is and how to talk to it.
public struct PostgresConfiguration: Sendable {
    /// A libpq connection URL or keyword string; `sslmode` and all else that libpq knows may stand in it.
    public var url: String
    /// What `pg_stat_activity` shows; the URL's own `application_name` wins.
    public var applicationName = "postgres-client"
    /// The role of the session; nil for the URL's user. A session through a pooler keeps the URL's user.
    public var role: String?
    /// Settings of the session, by name; the URL's own `options` win. Not sent through a pooler.
    public var sessionSettings: [String: String] = [:]
    public var connections = 4
    /// The niceness of PostgreSQL's processes for these connections, 1 to 19; `nil` does not change it. It applies to a PostgreSQL on
    /// this Linux machine whose processes this one may change: through a Unix socket, with the same account or as root.
    public var niceness: Int32?
    /// A whole number of seconds for one attempt to connect; libpq takes none below 2.
    public var connectTimeoutSeconds = 5
    /// For one statement, on the server; a second later this side gives the connection up.
    public var statementTimeoutSeconds = 10.0
    /// For one transaction, on servers of version 17 and later; `nil` for no limit.
    public var transactionTimeoutSeconds: Double?
    /// The kernel's buffer for what goes to PostgreSQL. Linux doubles the value, and limits it by `net.core.wmem_max`. `nil` leaves the
    /// size to the kernel.
    public var sendBufferBytes: Int32?
    /// Maximum time without an answer for a statement without time-out, a whole script, or a COPY before its first row.
    public var maintenanceTimeoutSeconds = 3_600.0
    /// For a COPY: how long no byte may come or go while PostgreSQL is waited for.
    public var copyStallSeconds = 120.0
    /// How long this side may leave the server's bytes unread, or a transaction without a statement, before the server gives the connection
    /// up: the reader of a pipe pauses, or an operator suspends the command. `nil`: ``stallSeconds``, and a minute for a transaction.
    public var pauseSeconds: Double?
    /// After this long without a statement a connection asks whether the server still answers, unless a transaction is open: a peer
    /// that was stopped, or lost behind a proxy, is noticed before a caller needs the connection or misses a notification.
    public var idleCheckSeconds = 15.0
    /// How long a caller waits for a connection while there is none. While other callers hold all, it waits for ``answerTimeoutSeconds``.
    public var acquireTimeoutSeconds = 2.0
    /// Whether a pooler in transaction mode (PgBouncer) stands between: no prepared statements, no settings of the session.
    public var isPooled = false

    public init(url: String) { self.url = url }

    /// How long this side waits beyond the server's own limit for the server to end a statement.
    private static let graceSeconds = 1.0
    /// A peer that is lost without a word is noticed after idle + count × interval seconds: 25. The URL's own values win.
    private static let keepaliveIdleSeconds = 10
    private static let keepaliveIntervalSeconds = 5
    private static let keepaliveCount = 3

    /// How long PostgreSQL may make no progress on a statement before this side gives the connection up.
    var stallSeconds: Double { statementTimeoutSeconds + Self.graceSeconds }

    /// How long a caller of ``PostgresClient/run(_:)`` waits in all: for a connection, behind other callers, and for the answer.
    var answerTimeoutSeconds: Double { acquireTimeoutSeconds + stallSeconds }

    /// The parameters for `PQconnectStartParams`: the defaults, the URL, and last what joins with the URL's own settings.
    func connectionParameters() throws(PostgresError) -> [(keyword: String, value: String)] {
        guard let settings = Self.libpqSettings(of: url), !Self.mayHoldPassword(settings) else { throw .unusableURL }
        var parameters = [
            ("connect_timeout", String(connectTimeoutSeconds)),
            ("application_name", applicationName),
            ("tcp_user_timeout", String(Int(stallSeconds * 1_000))),
            ("keepalives", "1"),
            ("keepalives_idle", String(Self.keepaliveIdleSeconds)),
            ("keepalives_interval", String(Self.keepaliveIntervalSeconds)),
            ("keepalives_count", String(Self.keepaliveCount)),
            ("dbname", url),
            ("client_encoding", "UTF8"),
        ]
        if !isPooled {
            var own = sessionSettings
            own["statement_timeout"] = String(Int(statementTimeoutSeconds * 1_000))
            own["idle_in_transaction_session_timeout"] = String(Int((pauseSeconds ?? 60) * 1_000))
            // The server, too, notices a peer that is lost.
            own["tcp_user_timeout"] = String(Int((pauseSeconds ?? stallSeconds) * 1_000))
            own["tcp_keepalives_idle"] = String(Self.keepaliveIdleSeconds)
            own["tcp_keepalives_interval"] = String(Self.keepaliveIntervalSeconds)
            own["tcp_keepalives_count"] = String(Self.keepaliveCount)
            // What an append reads must be younger than its lock.
            own["default_transaction_isolation"] = "read committed"
            own["role"] = role
            let flags = own.sorted { $0.key < $1.key }.map { "-c \($0)=\(Self.escaped($1))" }
            let urls = settings["options"].map { [$0] } ?? []
            parameters.append(("options", (flags + urls).joined(separator: " ")))
        }
        return parameters
    }

    /// Whether a password that lacks its percent signs was read as a part of the URL that errors name:
    /// `postgres://user:pass@word@host` has the host `word@host`, and `postgres://user:pass/word@host` the port `pass`.
    private static func mayHoldPassword(_ settings: [String: String]) -> Bool {
        let hosts = (settings["host"] ?? "").split(separator: ",")
        let port = settings["port"] ?? ""
        let database = settings["dbname"] ?? ""
        // A host that begins with @ is a socket in the abstract namespace.
        return hosts.contains { $0.dropFirst().contains("@") } || database.contains("@")
            || !port.allSatisfy { $0.isASCII && ($0.isNumber || $0 == ",") }
    }

    /// The server splits its options at spaces.
    private static func escaped(_ value: String) -> String {
        value.replacing("\\", with: "\\\\").replacing(" ", with: "\\ ")
    }
}

/// Without the URL, which may hold a password.
extension PostgresConfiguration: CustomStringConvertible, CustomReflectable {
    public var description: String { "\(connections) connections as \(applicationName)" }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

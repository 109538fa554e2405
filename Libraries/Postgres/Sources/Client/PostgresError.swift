/// What can go wrong with the database. No description shows a bound value, a row or a password.
public enum PostgresError: Error, Sendable {
    /// PostgreSQL refused the statement; the transaction that it was part of is rolled back.
    case refused(ServerError)
    /// The connection broke. A statement that may have run is never sent again by this module.
    case connectionLost(mayHaveRun: Bool)
    /// PostgreSQL has not answered in time. A statement that may have run is never sent again by this module.
    case deadlineExceeded(mayHaveRun: Bool)
    /// No connection could be had in time; nothing was sent. The reason is libpq's, which names hosts but no password.
    case unavailable(reason: String)
    /// The transaction was rolled back, because a statement in it was refused and its error went unnoticed.
    case rolledBack
    /// The transaction is committed, but PostgreSQL gave up the wait for its synchronous standbys.
    case unreplicated
    /// The column, from 0, is not what the caller reads it as.
    case decoding(column: Int, cause: CellError)
    /// The URL is not one that libpq understands. It is not shown, since it may hold a password.
    case unusableURL

    /// An error or notice of PostgreSQL's, by its SQLSTATE.
    public struct ServerError: Error, Sendable {
        public var sqlState: SQLState
        public var schema: String?
        public var table: String?
        public var column: String?
        public var constraint: String?
        /// Of the data of a COPY, from 1.
        public var copyLine: Int64?
        /// PostgreSQL's sentence, which may quote values; not part of any description.
        public var unredactedMessage: String
    }
}

/// Source: PostgreSQL, appendix A, *PostgreSQL Error Codes*.
public struct SQLState: RawRepresentable, Hashable, Sendable {
    public var rawValue: String
    public init(rawValue: String) { self.rawValue = rawValue }

    public static let uniqueViolation = SQLState(rawValue: "23505")
    public static let insufficientPrivilege = SQLState(rawValue: "42501")
    public static let undefinedTable = SQLState(rawValue: "42P01")
    public static let invalidSchemaName = SQLState(rawValue: "3F000")
    public static let lockNotAvailable = SQLState(rawValue: "55P03")
    public static let queryCanceled = SQLState(rawValue: "57014")
    /// A statement that this side believes prepared is not: its preparation was rolled into a pipeline that failed.
    static let invalidStatementName = SQLState(rawValue: "26000")

    /// The database is going away, full, read-only after a failover, or too busy, also for a whole transaction: the same statement may succeed later.
    var saysTryLater: Bool {
        ["08", "53", "57", "58"].contains(rawValue.prefix(2))
            || ["25006", "25P03", "25P04", "40001", "40P01", "55P03"].contains(rawValue)
    }
}

extension PostgresError {
    /// Whether the same request may succeed once the database is back.
    public var isUnavailability: Bool {
        switch self {
        case .refused(let refusal): refusal.sqlState.saysTryLater
        case .connectionLost, .deadlineExceeded, .unavailable, .unreplicated: true
        case .rolledBack, .decoding, .unusableURL: false
        }
    }

    /// True if the statement's fate is unknown.
    public var mayHaveRun: Bool {
        switch self {
        case .connectionLost(let mayHaveRun), .deadlineExceeded(let mayHaveRun): mayHaveRun
        case .unreplicated: true
        case .refused, .unavailable, .rolledBack, .decoding, .unusableURL: false
        }
    }

    public var sqlState: SQLState? {
        if case .refused(let refusal) = self { refusal.sqlState } else { nil }
    }

    var reasonForNoConnection: String? {
        if case .unavailable(let reason) = self { reason } else { nil }
    }
}

extension PostgresError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .refused(let refusal): refusal.description
        case .connectionLost(mayHaveRun: true): "the connection to PostgreSQL broke; the statement may have run"
        case .connectionLost(mayHaveRun: false): "the connection to PostgreSQL broke before the statement was sent"
        case .deadlineExceeded(mayHaveRun: true): "PostgreSQL did not answer in time; the statement may have run"
        case .deadlineExceeded(mayHaveRun: false): "no connection to PostgreSQL had time for the statement, which was not sent"
        case .unavailable(let reason): "no connection to PostgreSQL: \(reason)"
        case .rolledBack: "the transaction was rolled back, because a statement in it had been refused"
        case .unreplicated: "the transaction is committed, but perhaps on no synchronous standby"
        case .decoding(let column, let cause): "column \(column) \(cause)"
        case .unusableURL: "the database URL is not one that libpq understands (postgres://user@host:port/database?sslmode=…)"
        }
    }
}

/// Without the sentence that may quote values.
extension PostgresError.ServerError: CustomReflectable {
    public var customMirror: Mirror {
        Mirror(self, children: ["description": description])
    }
}

extension PostgresError.ServerError: CustomStringConvertible {
    public var description: String {
        let place = [("schema", schema), ("table", table), ("column", column), ("constraint", constraint)]
            .compactMap { name, value in value.map { ", \(name) \($0)" } }
        let meaning = sqlState.meaning.map { " (\($0))" } ?? ""
        return "PostgreSQL refused the statement: SQLSTATE \(sqlState.rawValue)\(meaning)" + place.joined()
    }

    init(_ result: borrowing PQResult) {
        self.init(
            sqlState: SQLState(rawValue: result.errorField("C") ?? "XX000"),
            schema: result.errorField("s"),
            table: result.errorField("t"),
            column: result.errorField("c"),
            constraint: result.errorField("n"),
            // "COPY things, line 3, column data: …", in the server's language. Lines before it may quote the data.
            copyLine: result.errorField("W").flatMap {
                $0.firstMatch(of: /(?m)^COPY [^,]*, \S* (\d+)/).flatMap { Int64($0.1) }
            },
            unredactedMessage: result.errorField("M") ?? "(no message)"
        )
    }
}

extension SQLState {
    /// What happened and what helps, for the states that operators meet; `nil` for the others.
    var meaning: String? {
        switch rawValue {
        case "25006": "PostgreSQL is read-only, as a standby is; connect to the primary"
        case "40001", "40P01": "it conflicted with another transaction; the same request may succeed again"
        case "42501": "the role lacks the right for it; give the role this right, or use the role that has it"
        case "42P01", "3F000": "a table or schema is missing; apply the migrations, or look into another database"
        case "53100": "the disk of PostgreSQL is full; free space on it"
        case "53200": "PostgreSQL has no memory left; give its machine more, or lower its settings of memory"
        case "53300": "PostgreSQL has no connection left; open fewer, or raise max_connections"
        case "55P03": "a lock was not free in time; look for the session that holds it in pg_locks"
        case "57014":
            "it took longer than its time limit, or somebody cancelled it; look for locks and for load in pg_stat_activity"
        case "57P01", "57P02": "PostgreSQL shut down meanwhile; the next request connects again"
        case "57P03": "PostgreSQL starts or stops; try again later"
        case "58030": "PostgreSQL cannot read or write a file; look at its log and its disk"
        case "XX001", "XX002": "PostgreSQL found damaged data; look at its log, and restore from a backup"
        default: nil
        }
    }
}

public import Encoding
public import Postgres

/// The log's lock in PostgreSQL, which every append takes until its commit.
public struct LogLock: Sendable {
    private let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// A session that holds the lock while an append waits, or that holds another lock which an append waits for.
    public struct Holder: Sendable, Hashable {
        /// The number of its process in PostgreSQL.
        public var process: Int32
        /// Its `application_name`, which names the node or the command.
        public var name: String
        /// Its role in PostgreSQL; `nil` for a process of PostgreSQL itself.
        public var role: String?
        /// Its IP address; `nil` if it uses a Unix socket, or if this session may not see that.
        public var address: String?
        /// Whether it holds the log's lock as an append does, and not another lock that an append waits for, such as one of a table.
        public var holdsLogLock: Bool
        /// The begin of its transaction; `nil` if this session may not see that.
        public var beganAt: Timestamp?
        /// Number of sessions that wait for the log's lock behind an append that holds it.
        public var waiting: Int64
        /// Seconds for which the first append has waited, for any lock.
        public var waitedSeconds: Double
        /// The time of the last message from its client, if PostgreSQL waits for the next one: seconds of the server's clock. `nil` if
        /// PostgreSQL works, reads the data of a COPY, or may not tell this session.
        public var silentSince: Double?
        /// The first 60 characters of its last statement, up to its first text in quotes; `nil` if this session may not see that.
        public var query: String?
    }

    /// Another role of this program's sessions may neither see nor end what the user of the connection may.
    private static let asUser: SQL = "SELECT set_config('role', 'none', true)"

    /// Returns the sessions that keep appends waiting.
    /// - Throws: ``PostgresError``, or `CancellationError`
    public func holders() async throws -> [Holder] {
        try await client.run([
            Self.asUser,
            """
            WITH locks AS (
                SELECT pid, granted, waitstart, (
                    locktype = 'relation' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
                    AND relation = (SELECT oid FROM pg_class WHERE relname = 'append_lock' AND relnamespace = 'log'::regnamespace)
                    AND mode = 'ExclusiveLock'
                ) IS TRUE AS is_of_append
                FROM pg_locks
            ), appends AS (
                SELECT pid, granted FROM locks WHERE is_of_append
            ), stuck AS (
                -- They wait for the log's lock, or hold it and wait for another one.
                SELECT a.pid, a.granted, l.waitstart FROM appends AS a JOIN locks AS l USING (pid) WHERE NOT l.granted
            ), waits AS (
                SELECT (SELECT count(*) FILTER (WHERE NOT granted) FROM appends HAVING bool_or(granted)) AS waiting,
                    (SELECT extract(epoch FROM clock_timestamp() - min(waitstart))::float8 FROM stuck) AS seconds
            ), sessions AS (
                SELECT pid, true AS holds_log_lock FROM appends WHERE granted
                UNION
                -- Not of those that wait behind an append: pg_blocking_pids stops all of PostgreSQL's locking for a moment.
                SELECT b.pid, false FROM stuck AS s CROSS JOIN unnest(pg_blocking_pids(s.pid)) AS b (pid)
                WHERE (s.granted OR NOT EXISTS (SELECT FROM appends WHERE granted))
                    AND NOT EXISTS (SELECT FROM appends AS a WHERE a.pid = b.pid)
            )
            SELECT a.pid, coalesce(a.application_name, ''), a.usename::text, host(a.client_addr), s.holds_log_lock, a.xact_start,
                coalesce(w.waiting, 0), coalesce(w.seconds, 0),
                CASE WHEN a.wait_event_type = 'Client' AND a.query NOT ILIKE 'COPY %' THEN extract(epoch FROM a.state_change)::float8 END,
                CASE WHEN a.query NOT LIKE '<%' THEN nullif(left(regexp_replace(a.query, '[''$].*', '…'), 60), '') END
            FROM sessions AS s JOIN pg_stat_activity AS a USING (pid) CROSS JOIN waits AS w
            WHERE EXISTS (SELECT FROM stuck) ORDER BY s.holds_log_lock, a.pid
            """,
        ])[1].decode((Int32, String, String?, String?, Bool, Timestamp?, Int64, Double, Double?, String?).self).map {
            Holder(
                process: $0, name: $1, role: $2, address: $3, holdsLogLock: $4, beganAt: $5, waiting: $6, waitedSeconds: $7,
                silentSince: $8, query: $9)
        }
    }

    /// Ends the session, unless its client has sent something meanwhile.
    /// - Returns: whether PostgreSQL ends it
    /// - Throws: ``PostgresError``, or `CancellationError`
    func end(_ holder: Holder) async throws -> Bool {
        try await client.run([
            Self.asUser,
            """
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE pid = \(holder.process) AND extract(epoch FROM state_change)::float8 = \(holder.silentSince ?? 0)
                AND wait_event_type = 'Client'
            """,
        ])[1].decode(Bool.self) == [true]
    }
}

public import Postgres

/// Checks of the whole log that only the database can make. Their memory does not grow with the log.
///
/// The statements use no indexes, because a damaged index could hide the damage that it should prevent. Each check is one
/// statement up to a fixed position, so that no snapshot lives for long while the log grows.
struct LogTables: Sendable {
    /// A leased connection inside a transaction.
    let connection: LeasedConnection
    let head: Int64

    /// A violation, and the total number of violations of its kind.
    struct Violation: Sendable {
        var reason: String
        var position: Int64?
        var total: Int64
    }

    static func with<Value>(
        _ client: PostgresClient, through head: Int64, _ body: (LogTables) async throws -> Value
    ) async throws -> Value {
        try await client.withLongTransaction { connection in try await body(LogTables(connection: connection, through: head)) }
    }

    /// The connection must be inside a transaction and must have no timeout.
    init(connection: LeasedConnection, through head: Int64) async throws {
        self.connection = connection
        self.head = head
        try await connection.run([
            "SET LOCAL enable_seqscan = on", "SET LOCAL enable_indexscan = off", "SET LOCAL enable_indexonlyscan = off",
            "SET LOCAL enable_bitmapscan = off",
        ])
    }

    /// Counts the rows up to the position `head`.
    func count() async throws -> Int64 {
        try await connection.query("SELECT count(*) FROM log.recorded_events WHERE position <= \(head)").decode(Int64.self)[0]
    }

    func faultyVersions(limit: Int) async throws -> [Violation] {
        try await connection.query(
            """
            SELECT stream, version, position, previous_version, previous_position, count(*) OVER () FROM (
                SELECT stream, version, position, lag(version, 1, 0) OVER versions AS previous_version,
                    lag(position, 1, 0::bigint) OVER versions AS previous_position
                FROM log.recorded_events WHERE position <= \(head)
                WINDOW versions AS (PARTITION BY stream ORDER BY version, position)
            ) AS s
            WHERE version <> previous_version + 1 OR position <= previous_position
            ORDER BY position LIMIT \(Int64(limit))
            """
        ).decode((String, Int32, Int64, Int32, Int64, Int64).self).map { stream, version, position, previous, before, total in
            let reason =
                version == previous + 1
                ? "version \(version) of \(stream) stands at position \(position), before version \(previous) at \(before)"
                : "version \(version) of \(stream) follows \(previous == 0 ? "nothing" : "version \(previous)")"
            return Violation(reason: reason, position: position, total: total)
        }
    }

    func repeatedIDs(limit: Int) async throws -> [Violation] {
        try await connection.query(
            """
            SELECT id::text, count(*), min(position), count(*) OVER () FROM log.recorded_events WHERE position <= \(head)
            GROUP BY id HAVING count(*) > 1 ORDER BY min(position) LIMIT \(Int64(limit))
            """
        ).decode((String, Int64, Int64, Int64).self).map { id, count, position, total in
            Violation(reason: "id \(id) is recorded \(count) times", position: position, total: total)
        }
    }

    /// Finds unique values that a second recorded event of the category repeats. A recorded event without the member, or with null,
    /// has no value. The verification must have decoded the category's data before.
    func repeatedMembers(of domainEvent: any DomainEvent.Type, limit: Int) async throws -> [Violation] {
        var tableViolations: [Violation] = []
        for member in domainEvent.uniqueMembers.sorted() {
            tableViolations += try await connection.query(
                """
                SELECT position, stream, count(*) OVER () FROM (
                    SELECT position, stream, row_number() OVER (PARTITION BY value ORDER BY position) AS number
                    FROM (
                        SELECT position, stream,
                            -- CASE keeps the order: the data of other categories may hold U+0000, which ->> refuses.
                            CASE WHEN split_part(stream, '-', 1) = \(domainEvent.category)
                                THEN coalesce(personal ->> \(member), data ->> \(member)) END AS value
                        FROM log.recorded_events WHERE position <= \(head)
                    ) AS valued WHERE value IS NOT NULL
                ) AS numbered WHERE number = 2 ORDER BY position LIMIT \(Int64(limit))
                """
            ).decode((Int64, String, Int64).self).map { position, stream, total in
                Violation(
                    reason: "the \(member) of \(stream) stands in a recorded event before", position: position, total: total)
            }
        }
        return tableViolations
    }

    /// Finds personal members that differ from their digest, that are missing without an erasure, or that are there after one.
    func faultyPersonalMembers(limit: Int) async throws -> [Violation] {
        try await connection.query(
            """
            SELECT e.position, e.stream, e.personal IS NULL, s.position IS NULL OR s.position > d.position, count(*) OVER ()
            FROM log.recorded_events AS e
            LEFT JOIN (
                SELECT stream, min(position) AS position FROM log.recorded_events WHERE type LIKE '%Erased' GROUP BY stream
            ) AS s ON s.stream = e.stream
            -- The subscription is under way to the erasures behind this position.
            CROSS JOIN (
                SELECT coalesce(max(position), 0) AS position FROM (
                    SELECT position FROM log.subscriptions WHERE name = \(Erasure.subscription) ORDER BY number DESC LIMIT 1
                ) AS newest
            ) AS d
            WHERE e.position <= \(head) AND e.personal_digest IS NOT NULL AND (
                e.personal IS NULL AND s.stream IS NULL
                OR e.personal IS NOT NULL AND s.position <= d.position
                OR e.personal IS NOT NULL AND e.personal_digest <> sha256(convert_to(e.personal::text, 'UTF8'))
            )
            ORDER BY e.position LIMIT \(Int64(limit))
            """
        ).decode((Int64, String, Bool, Bool, Int64).self).map { position, stream, isMissing, isLasting, total in
            let reason =
                switch (isMissing, isLasting) {
                case (true, _): "the personal members of \(stream) are missing, and no erasure ended them"
                case (false, false): "the personal members of \(stream) are there after their erasure"
                case (false, true): "the personal members of \(stream) differ from their digest"
                }
            return Violation(reason: reason, position: position, total: total)
        }
    }

    /// Finds commands without their recorded event. A command commits with its event or later, so the query has no upper
    /// position. A command of the version 0 changed nothing, and its stream did not exist.
    func unansweredCommands(limit: Int) async throws -> [Violation] {
        try await connection.query(
            """
            SELECT c.id::text, c.stream, c.version, count(*) OVER () FROM log.commands AS c
            WHERE c.version <> 0
                AND NOT EXISTS (SELECT FROM log.recorded_events AS r WHERE r.stream = c.stream AND r.version = c.version)
            ORDER BY c.id LIMIT \(Int64(limit))
            """
        ).decode((String, String, Int32, Int64).self).map { id, stream, version, total in
            Violation(
                reason: "command \(id) is answered by version \(version) of \(stream), which is not there", total: total)
        }
    }
}

extension LogVerification {
    /// Runs the checks of ``LogTables`` and compares the sequences, for a verification of the whole log.
    /// - Parameter progress: gets each check before it begins
    /// - Throws: `PostgresError`
    public mutating func examineTables(
        _ client: PostgresClient, sequences: [IDSequence], progress: (Check) -> Void = { _ in }
    ) async throws {
        let verification = self
        self = try await LogTables.with(client, through: head) { try await verification.examined($0, progress: progress) }
        progress(.sequences)
        try await examineSequences(client, sequences)
    }

    /// Runs the checks in the transaction of the tables.
    /// - Returns: this verification with the violations of the tables
    /// - Throws: `PostgresError`
    func examined(_ tables: LogTables, progress: (Check) -> Void = { _ in }) async throws -> LogVerification {
        var result = self
        // A category with undecodable data is a violation already, and PostgreSQL may not be able to read the data either.
        let decoded = domainEvents.filter { domainEvent in
            !violations.contains { $0.check == .events && $0.kind.map { $0.category == domainEvent.category } ?? true }
        }
        let limit = Self.violationLimit
        progress(.head)
        let count = try await tables.count()
        if count != total {
            result.note(.head, "the table has \(count) rows up to position \(head), its primary key leads to \(total)")
        }
        progress(.versions)
        result.note(.versions, try await tables.faultyVersions(limit: limit))
        progress(.ids)
        result.note(.ids, try await tables.repeatedIDs(limit: limit))
        for domainEvent in decoded { result.note(.ids, try await tables.repeatedMembers(of: domainEvent, limit: limit)) }
        progress(.personal)
        result.note(.personal, try await tables.faultyPersonalMembers(limit: limit))
        progress(.commands)
        result.note(.commands, try await tables.unansweredCommands(limit: limit))
        return result
    }

    private mutating func note(_ check: Check, _ tableViolations: [LogTables.Violation]) {
        for violation in tableViolations { note(check, violation.reason, at: violation.position) }
        omit((tableViolations.first?.total ?? 0) - Int64(tableViolations.count))
    }

    /// Compares the sequences with the numbers in the log.
    /// - Throws: `PostgresError`
    public mutating func examineSequences(_ client: PostgresClient, _ sequences: [IDSequence]) async throws {
        for state in try await IDSequence.states(of: sequences, after: start, client: client) where state.isBehind {
            note(
                .sequences,
                "\(state.sequence.name) is at \(state.last), but \(state.sequence.category)-\(state.largestUsed) is in use"
            )
        }
    }
}

public import Postgres

/// Checks of the whole log that only the database can make. Their memory does not grow with the log.
///
/// The statements use no indexes, because a damaged index could hide the damage that it should prevent. Each check is one
/// statement up to a fixed position, so that no snapshot lives for long while the log grows.
extension LogVerification {
    /// Runs the checks of the tables and compares the sequences, for a verification of the whole log.
    /// - Parameter progress: gets each check before it begins
    /// - Throws: `PostgresError`
    public mutating func examineTables(
        _ client: PostgresClient, sequences: [IDSequence], progress: (Check) -> Void = { _ in }
    ) async throws {
        let verification = self
        self = try await client.withLongTransaction { try await verification.examined($0, progress: progress) }
        progress(.sequences)
        for state in try await IDSequence.states(of: sequences, after: start, client: client) where state.isBehind {
            note(
                .sequences,
                "\(state.sequence.name) is at \(state.last), but \(state.sequence.category)-\(state.largestUsed) is in use"
            )
        }
    }

    /// - Parameter connection: must be inside a transaction and must have no timeout
    /// - Returns: this verification with the violations of the tables
    /// - Throws: `PostgresError`
    func examined(_ connection: LeasedConnection, progress: (Check) -> Void = { _ in }) async throws -> LogVerification {
        try await connection.run([
            "SET LOCAL enable_seqscan = on", "SET LOCAL enable_indexscan = off", "SET LOCAL enable_indexonlyscan = off",
            "SET LOCAL enable_bitmapscan = off",
        ])
        var (result, last): (LogVerification, Check?) = (self, nil)
        for (check, selection) in tableChecks {
            if check != last { progress(check) }
            last = check
            let found = try await connection.query(
                """
                SELECT position, reason, count(*) OVER () FROM (\(selection)) AS violations
                ORDER BY position, reason LIMIT \(Int64(Self.violationLimit))
                """
            ).decode((Int64?, String, Int64).self)
            for (position, reason, _) in found { result.note(check, reason, at: position) }
            result.omittedViolations += (found.first?.2 ?? 0) - Int64(found.count)
        }
        return result
    }

    /// Each check with a query that selects the position and the reason of its violations.
    private var tableChecks: [(Check, SQL)] {
        // A category with undecodable data is a violation already, and PostgreSQL may not be able to read the data either.
        let decoded = domainEvents.filter { domainEvent in
            !violations.contains { $0.check == .events && $0.kind.map { $0.category == domainEvent.category } ?? true }
        }
        var checks: [(Check, SQL)] = [(.head, wrongCount), (.versions, wrongVersions), (.ids, repeatedIDs)]
        for domainEvent in decoded {
            for member in domainEvent.uniqueMembers.sorted() {
                checks.append((.ids, repeatedValues(of: member, in: domainEvent.category)))
            }
        }
        return checks + [(.personal, wrongPersonalMembers), (.commands, unansweredCommands)]
    }

    private var wrongCount: SQL {
        """
        SELECT NULL::bigint AS position,
            format('the table has %s rows up to position %s, its primary key leads to %s', count(*), \(head), \(total)) AS reason
        FROM log.recorded_events WHERE position <= \(head) HAVING count(*) <> \(total)
        """
    }

    private var wrongVersions: SQL {
        """
        SELECT position, CASE WHEN version = previous + 1
                THEN format('version %s of %s stands at position %s, before version %s at %s',
                    version, stream, position, previous, previous_position)
                ELSE format('version %s of %s follows %s', version, stream,
                    CASE previous WHEN 0 THEN 'nothing' ELSE 'version ' || previous END) END AS reason
        FROM (
            SELECT stream, version, position, lag(version, 1, 0) OVER versions AS previous,
                lag(position, 1, 0::bigint) OVER versions AS previous_position
            FROM log.recorded_events WHERE position <= \(head)
            WINDOW versions AS (PARTITION BY stream ORDER BY version, position)
        ) AS s
        WHERE version <> previous + 1 OR position <= previous_position
        """
    }

    private var repeatedIDs: SQL {
        """
        SELECT min(position) AS position, format('id %s is recorded %s times', id, count(*)) AS reason
        FROM log.recorded_events WHERE position <= \(head) GROUP BY id HAVING count(*) > 1
        """
    }

    /// Selects unique values that a second recorded event of the category repeats. A recorded event without the member, or with
    /// null, has no value. The verification must have decoded the category's data before. The reason quotes no value: it may be
    /// personal.
    private func repeatedValues(of member: String, in category: String) -> SQL {
        """
        SELECT position, format('the %s of %s stands in a recorded event before', \(member), stream) AS reason FROM (
            SELECT position, stream, row_number() OVER (PARTITION BY value ORDER BY position) AS number
            FROM (
                SELECT position, stream,
                    -- CASE keeps the order: the data of other categories may hold U+0000, which ->> refuses.
                    CASE WHEN split_part(stream, '-', 1) = \(category)
                        THEN coalesce(personal ->> \(member), data ->> \(member)) END AS value
                FROM log.recorded_events WHERE position <= \(head)
            ) AS valued WHERE value IS NOT NULL
        ) AS numbered WHERE number = 2
        """
    }

    /// Selects personal members that are missing without an erasure, or that are there after one.
    private var wrongPersonalMembers: SQL {
        """
        SELECT e.position, format(CASE
                WHEN e.personal IS NULL THEN 'the personal members of %s are missing, and no erasure ended them'
                ELSE 'the personal members of %s are there after their erasure' END, e.stream) AS reason
        FROM log.recorded_events AS e
        LEFT JOIN (
            SELECT stream, min(position) AS position FROM log.recorded_events WHERE type LIKE '%Erased' GROUP BY stream
        ) AS s ON s.stream = e.stream
        -- The subscription is under way to the erasures behind this position.
        CROSS JOIN (
            SELECT coalesce(max(position), 0) AS position FROM log.subscriptions WHERE name = \(ErasureSubscription.subscription)
        ) AS d
        WHERE e.position <= \(head) AND (
            e.personal IS NULL AND s.stream IS NULL OR s.position <= d.position AND e.personal::text <> '{}'
        )
        """
    }

    /// Selects commands without their recorded event. A command commits with its event or later, so the query has no upper
    /// position. A command of the version 0 changed nothing, and its stream did not exist.
    private var unansweredCommands: SQL {
        """
        SELECT c.position, format('a command is answered by position %s, which is not there', c.position) AS reason
        FROM log.commands AS c
        WHERE c.position IS NOT NULL AND NOT EXISTS (SELECT FROM log.recorded_events AS r WHERE r.position = c.position)
        UNION ALL
        SELECT NULL, format('command %s is answered by version %s of %s, which is not there', c.id, c.version, c.stream)
        FROM log.commands AS c
        WHERE c.version <> 0
            AND NOT EXISTS (SELECT FROM log.recorded_events AS r WHERE r.stream = c.stream AND r.version = c.version)
        """
    }
}

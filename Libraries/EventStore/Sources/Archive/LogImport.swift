public import Postgres
internal import Synchronization

/// Imports an archive into an empty log, completely or not at all. Positions, ids, times and bytes stay the same.
public struct LogImport: Sendable {
    /// Number of lines that are inserted at a time.
    private static let page: Int64 = 10_000
    /// Number of recorded events in memory at a time, twice, of which each can have the longest line.
    private static let verificationPage: Int64 = 200

    private let client: PostgresClient

    /// - Parameter client: with the rights to set the sequences, which the application does not have
    public init(client: PostgresClient) { self.client = client }

    /// Reads an archive into a temporary table, inserts its lines into the log, and verifies the log, in one transaction.
    /// - Parameters:
    ///   - source: returns the next bytes of the lines, or nil at the end. The thread of a connection calls it, and it may block.
    ///     It must throw if the archive is incomplete.
    ///   - isTrial: whether to check the whole archive and then roll the transaction back
    ///   - progress: the number of lines that are inserted or verified, and the number of all of both. The first call comes after
    ///     the last line is read.
    /// - Throws: ``LogArchiveError``, also for a ``ZstandardError`` of the source; other errors of the source; `PostgresError`
    public func read(
        from source: @escaping @Sendable () throws -> [UInt8]?, decodedBy domainEvents: [any DomainEvent.Type],
        sequences: [IDSequence], isTrial: Bool = false,
        progress: @escaping @Sendable (_ done: Int64, _ of: Int64) -> Void = { _, _ in }
    ) async throws -> LogArchive.Summary {
        do {
            return try await client.withLongTransaction { connection in
                try await connection.query("SELECT log.lock()")
                try await refuseUnlessEmpty(connection)
                // The log gets longer without them.
                try await connection.query("SELECT log.leave_inline(ARRAY(SELECT schema FROM log.read_models))")
                let lines = try await readLines(from: source, connection)
                for first in stride(from: 1, through: lines, by: Int(Self.page)) {
                    let end = min(first + Self.page, lines + 1)
                    try await insert(first..<end, connection)
                    progress(end - 1, 2 * lines)
                }
                try await refuseAnotherSource(connection)
                var verification = try await LogVerification(
                    of: LogReader(client: connection), decodedBy: domainEvents, pageLimit: Self.verificationPage
                ) { progress(lines + $0, 2 * lines) }
                try await refuse(verification.violations.first, connection)
                verification = try await verification.examined(connection)
                try await refuse(verification.violations.first, connection)
                progress(2 * lines, 2 * lines)
                let commands = try await connection.query("SELECT count(*) FROM log.commands").decode(Int64.self)[0]
                let summary = LogArchive.Summary(recordedEvents: verification.head, commands: commands)
                // Before the sequences: they keep their values after a rollback.
                if isTrial { throw TrialEnded(summary: summary) }
                try await IDSequence.advance(sequences, connection)
                return summary
            }
        } catch let end as TrialEnded {
            return end.summary
        } catch let error as FormatError {
            // Of a position that no log reaches.
            throw LogArchiveError("\(error)")
        }
    }

    /// Rolls the transaction of a trial back.
    private struct TrialEnded: Error {
        var summary: LogArchive.Summary
    }

    private func refuseUnlessEmpty(_ connection: LeasedConnection) async throws {
        let isEmpty = try await connection.query(
            "SELECT log.tail() = 0 AND NOT EXISTS (SELECT FROM log.commands) AND NOT EXISTS (SELECT FROM log.tiles)"
        ).decode(Bool.self)
        guard isEmpty == [true] else {
            throw LogArchiveError("The log of this database is not empty: an archive goes into an empty log only")
        }
        // It holds numbers back for new users and events, which the archive may have given to others.
        let isServed = try await connection.query(
            "SELECT coalesce(bool_or(log.is_served(schema)), false) FROM log.read_models"
        ).decode(Bool.self)
        guard isServed == [false] else {
            throw LogArchiveError("A server works on this database: stop it. Behind a pooler, wait 20 minutes then")
        }
    }

    /// - Returns: the number of lines
    private func readLines(
        from source: @escaping @Sendable () throws -> [UInt8]?, _ connection: LeasedConnection
    ) async throws -> Int64 {
        try await connection.query(
            """
            CREATE TEMPORARY TABLE archive (
                line bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                entry json NOT NULL CONSTRAINT archive_specversion CHECK (entry ->> 'specversion' IS NOT DISTINCT FROM '1.0')
            ) ON COMMIT DROP
            """
        )
        let scanner = Mutex(LineScanner())
        do {
            try await connection.copyIn(
                #"COPY pg_temp.archive (entry) FROM STDIN (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')"#
            ) {
                let piece: [UInt8]?
                do { piece = try source() } catch let error as ZstandardError { throw LogArchiveError("\(error)") }
                try scanner.withLock { try $0.scan(piece) }
                return piece
            }
        } catch PostgresError.refused(let refusal) where refusal.isAboutData {
            throw LogArchiveError(line: refusal.copyLine, Self.sentence(on: refusal))
        }
        return scanner.withLock { $0.lines }
    }

    /// Inserts lines. If PostgreSQL refuses their data, they are inserted in halves, until one line is left.
    private func insert(_ lines: Range<Int64>, _ connection: LeasedConnection) async throws {
        try await connection.query("SAVEPOINT lines")
        do { try await connection.run(Self.insertions(of: lines)) } catch PostgresError.refused(let refusal)
            where refusal.isAboutData
        {
            try await connection.query("ROLLBACK TO SAVEPOINT lines")
            guard lines.count > 1 else { throw LogArchiveError(line: lines.lowerBound, Self.sentence(on: refusal)) }
            let middle = lines.lowerBound + Int64(lines.count / 2)
            try await insert(lines.lowerBound..<middle, connection)
            try await insert(middle..<lines.upperBound, connection)
        }
        try await connection.query("RELEASE SAVEPOINT lines")
    }

    /// `->>` returns the stored bytes of an object, and the content of a string. Casts of PostgreSQL accept other times than
    /// RFC 3339, such as "now": these become NULL, which the log refuses.
    private static func insertions(of lines: Range<Int64>) -> [SQL] {
        let parsed: SQL = """
            FROM pg_temp.archive, json_to_record(entry) AS e (
                id uuid, type text, subject text, time text, position bigint, streamversion integer, format smallint, data json,
                personalsha256 text, requesthash text, owner text
            )
            WHERE line >= \(lines.lowerBound) AND line < \(lines.upperBound)
            """
        return [
            """
            INSERT INTO log.recorded_events (
                position, id, stream, version, type, format, recorded_at, data, metadata, personal, personal_digest
            )
            SELECT position, id, subject, streamversion, type, format,
                CASE WHEN time ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{6}Z$'
                    THEN time::timestamptz END,
                (data ->> 'facts')::json, (data ->> 'metadata')::json, (data ->> 'personal')::json, decode(personalsha256, 'hex')
            \(parsed) AND position IS NOT NULL ORDER BY line
            """,
            // A line of neither kind is refused here, and one that has a part of a command.
            """
            INSERT INTO log.commands (id, request_hash, stream, version, owner)
            SELECT id, decode(requesthash, 'hex'), subject, streamversion, owner
            \(parsed) AND (position IS NULL OR requesthash IS NOT NULL OR owner IS NOT NULL) ORDER BY line
            """,
        ]
    }

    /// All lines are of one log, which is named after its first recorded event.
    private func refuseAnotherSource(_ connection: LeasedConnection) async throws {
        let line = try await connection.query(
            """
            SELECT min(line) FROM pg_temp.archive WHERE entry ->> 'source' IS DISTINCT FROM
                '/log/' || coalesce((SELECT id::text FROM log.recorded_events ORDER BY position LIMIT 1), '')
            """
        ).decode(Int64?.self)[0]
        if let line { throw LogArchiveError(line: line, "the source is not that of the first recorded event") }
    }

    private func refuse(_ violation: LogVerification.Violation?, _ connection: LeasedConnection) async throws {
        guard let violation else { return }
        let position = violation.firstPosition ?? 0
        let line = try await connection.query(
            "SELECT min(line) FROM pg_temp.archive WHERE (entry ->> 'position')::bigint = \(position)"
        ).decode(Int64?.self)[0]
        throw LogArchiveError(line: line, violation.reason)
    }

    private static func sentence(on refusal: PostgresError.ServerError) -> String {
        switch (refusal.constraint, refusal.sqlState) {
        case ("archive_specversion", _): "this is no CloudEvent of version 1.0"
        case ("recorded_events_pkey", .uniqueViolation): "the position stands on a line before"
        case ("recorded_events_id", .uniqueViolation), ("commands_pkey", .uniqueViolation): "the id stands on a line before"
        case ("recorded_events_stream_version", .uniqueViolation): "the version of the stream stands on a line before"
        default: "\(refusal)"
        }
    }
}

extension PostgresError.ServerError {
    /// Whether the data are at fault, and not the machine: invalid data, a constraint, a limit of PostgreSQL, or a refusal of the log.
    fileprivate var isAboutData: Bool { ["22", "23", "54", "HU"].contains(sqlState.rawValue.prefix(2)) }
}

/// Counts lines, and refuses a line that COPY would not read as one line of JSON. Bounds PostgreSQL's memory for a line.
private struct LineScanner: Sendable {
    private(set) var lines: Int64 = 0
    /// Length of the line that has begun, in bytes.
    private var length = 0

    /// - Parameter piece: nil at the end
    /// - Throws: ``LogArchiveError``
    mutating func scan(_ piece: [UInt8]?) throws {
        guard let piece else {
            guard length == 0 else { throw LogArchiveError(line: lines + 1, "The line is cut off") }
            return
        }
        for byte in piece {
            guard length > 0 || byte == UInt8(ascii: "{") else {
                throw LogArchiveError(line: lines + 1, "This is no JSON object")
            }
            guard byte != UInt8(ascii: "\n") else {
                (lines, length) = (lines + 1, 0)
                continue
            }
            guard byte >= 0x20 || byte == UInt8(ascii: "\t") else {
                throw LogArchiveError(line: lines + 1, "The line has a control character")
            }
            length += 1
            guard length <= LogArchive.lineLimit else {
                throw LogArchiveError(line: lines + 1, "The line is longer than \(LogArchive.lineLimit) bytes")
            }
        }
    }
}

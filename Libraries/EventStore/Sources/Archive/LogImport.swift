public import Postgres
internal import Synchronization

/// Imports an archive into an empty log, completely or not at all. Positions, ids, times and bytes stay the same.
public struct LogImport: Sendable {
    /// Number of recorded events in memory at a time, twice, of which each can have the longest line.
    private static let verificationPage: Int64 = 200

    private let client: PostgresClient
    private let pageBytes: Int

    /// - Parameters:
    ///   - client: with the rights to set the sequences, which the application does not have
    ///   - pageBytes: a page ends with the first line that ends behind so many bytes
    public init(client: PostgresClient, pageBytes: Int = 4 * 1_024 * 1_024) {
        (self.client, self.pageBytes) = (client, pageBytes)
    }

    /// Reads an archive page by page, inserts the lines into the log, and verifies the log, in one transaction.
    /// - Parameters:
    ///   - source: returns the next bytes of the lines, or nil at the end. The thread of a connection calls it, and it may block.
    ///     It must throw if the archive is incomplete.
    ///   - isTrial: whether to check the whole archive and then roll the transaction back
    ///   - progress: the number of lines that are inserted, then the number of recorded events that are verified, and of how many;
    ///     nil until the last line is read
    /// - Throws: ``LogArchiveError``, also for a ``ZstandardError`` of the source; other errors of the source; `PostgresError`
    public func read(
        from source: @escaping @Sendable () throws -> [UInt8]?, decodedBy domainEvents: [any DomainEvent.Type],
        sequences: [IDSequence], isTrial: Bool = false,
        progress: @escaping @Sendable (_ done: Int64, _ of: Int64?) -> Void = { _, _ in }
    ) async throws -> LogArchive.Summary {
        do {
            return try await client.withLongTransaction { connection in
                try await connection.query("SELECT log.lock()")
                try await refuseUnlessEmpty(connection)
                // The log gets longer without them.
                try await connection.query("SELECT log.leave_inline(ARRAY(SELECT schema FROM log.read_models))")
                try await insertLines(from: source, connection, progress: progress)
                let tail = try await LogReader(client: connection).tail()
                var verification = try await LogVerification(
                    of: LogReader(client: connection), decodedBy: domainEvents, pageLimit: Self.verificationPage
                ) { progress($0, tail) }
                try refuse(verification.violations.first)
                verification = try await verification.examined(connection)
                try refuse(verification.violations.first)
                progress(tail, tail)
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
        let isEmpty = try await connection.query("SELECT log.tail() = 0 AND NOT EXISTS (SELECT FROM log.commands)").decode(
            Bool.self)
        guard isEmpty == [true] else {
            throw LogArchiveError("The log of this database is not empty: an archive goes into an empty log only")
        }
        // It holds numbers back for new users and events, which the archive may have given to others.
        let isServed = try await connection.query(
            "SELECT coalesce(bool_or(log.holders(schema) <> '{}'), false) FROM log.read_models"
        ).decode(Bool.self)
        guard isServed == [false] else {
            throw LogArchiveError(
                "A server works on this database: stop it. One that was lost behind a pooler counts for another minute")
        }
    }

    /// Only one page is in the temporary table, so that a file without recorded events fills no disk.
    private func insertLines(
        from source: @escaping @Sendable () throws -> [UInt8]?, _ connection: LeasedConnection,
        progress: (_ done: Int64, _ of: Int64?) -> Void
    ) async throws {
        try await connection.query(
            """
            CREATE TEMPORARY TABLE archive (
                line bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
                entry json NOT NULL CONSTRAINT archive_specversion CHECK (entry ->> 'specversion' IS NOT DISTINCT FROM '1.0')
                    CONSTRAINT archive_version CHECK (coalesce(entry ->> 'archiveversion', '1') = '1')
            ) ON COMMIT DROP
            """
        )
        let pages = Mutex(ArchivePages(pageBytes: pageBytes))
        while !pages.withLock({ $0.areRead }) {
            let first = pages.withLock { $0.lines } + 1
            do {
                try await connection.copyIn(
                    #"COPY pg_temp.archive (entry) FROM STDIN (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')"#
                ) {
                    try pages.withLock { pages in
                        do { return try pages.next(from: source) } catch let error as ZstandardError {
                            throw LogArchiveError("\(error)")
                        }
                    }
                }
            } catch PostgresError.refused(let refusal) where refusal.isAboutData {
                throw LogArchiveError(line: refusal.copyLine.map { first - 1 + $0 }, Self.sentence(on: refusal))
            }
            let end = pages.withLock { $0.lines } + 1
            try await insert(first..<end, connection)
            try await refuseWrongPlace(connection)
            try await connection.query("TRUNCATE pg_temp.archive")
            progress(end - 1, nil)
        }
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
                requesthash text, owner text
            )
            WHERE line >= \(lines.lowerBound) AND line < \(lines.upperBound)
            """
        return [
            """
            INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata, personal)
            SELECT position, id, subject, streamversion, type, format,
                CASE WHEN time ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{6}Z$'
                    THEN time::timestamptz END,
                (data ->> 'facts')::json, (data ->> 'metadata')::json, (data ->> 'personal')::json
            \(parsed) AND position IS NOT NULL ORDER BY line
            """,
            // A line that has a part of a command is refused here, and by the next one a line of neither kind.
            """
            INSERT INTO log.commands (position, request_hash, owner)
            SELECT position, decode(requesthash, 'hex'), owner
            \(parsed) AND position IS NOT NULL AND (requesthash IS NOT NULL OR owner IS NOT NULL) ORDER BY line
            """,
            """
            INSERT INTO log.commands (id, request_hash, owner, stream, version)
            SELECT CASE type WHEN 'Command' THEN id END, decode(requesthash, 'hex'), owner, subject, streamversion
            \(parsed) AND position IS NULL ORDER BY line
            """,
        ]
    }

    /// All lines are of one log, which is named after its first recorded event, and the recorded events come first, in order. So the
    /// line of a violation is its position.
    private func refuseWrongPlace(_ connection: LeasedConnection) async throws {
        let wrong = try await connection.query(
            """
            SELECT line, position FROM pg_temp.archive, json_to_record(entry) AS e (source text, position bigint)
            WHERE position <> line OR source IS DISTINCT FROM
                '/log/' || coalesce((SELECT id::text FROM log.recorded_events WHERE position = 1), '')
            ORDER BY line LIMIT 1
            """
        ).decode((Int64, Int64?).self)
        guard let (line, position) = wrong.first else { return }
        throw LogArchiveError(
            line: line,
            position.map { $0 != line } ?? false
                ? "the position is not the number of the line" : "the source is not that of the first recorded event")
    }

    private func refuse(_ violation: LogVerification.Violation?) throws {
        if let violation { throw LogArchiveError(line: violation.firstPosition, violation.reason) }
    }

    private static func sentence(on refusal: PostgresError.ServerError) -> String {
        switch (refusal.constraint, refusal.sqlState) {
        case ("archive_specversion", _): "this is no CloudEvent of version 1.0"
        case ("archive_version", _): "a later release wrote the archive in a version of which this program knows only 1"
        case ("recorded_events_pkey", .uniqueViolation): "the position stands on a line before"
        case ("recorded_events_id", .uniqueViolation), ("commands_id", .uniqueViolation): "the id stands on a line before"
        case ("recorded_events_stream_version", .uniqueViolation): "the version of the stream stands on a line before"
        default: "\(refusal)"
        }
    }
}

extension PostgresError.ServerError {
    /// Whether the data are at fault, and not the machine: invalid data, a constraint, a limit of PostgreSQL, or a refusal of the log.
    fileprivate var isAboutData: Bool { ["22", "23", "54", "HU"].contains(sqlState.rawValue.prefix(2)) }
}

/// Cuts an archive into pages of whole lines, and refuses a line that COPY would not read as one line of JSON. Bounds PostgreSQL's memory
/// for a line.
private struct ArchivePages: Sendable {
    let pageBytes: Int
    /// Number of lines until now.
    private(set) var lines: Int64 = 0
    private(set) var areRead = false
    /// The first bytes of the next page.
    private var rest: [UInt8] = []
    /// Length of this page, in bytes; nil once it has ended.
    private var length: Int? = 0
    /// Length of the line that has begun, in bytes.
    private var lineLength = 0

    init(pageBytes: Int) { self.pageBytes = pageBytes }

    /// - Returns: nil at the end of a page; the next call begins another one
    /// - Throws: ``LogArchiveError``, and the error of the source
    mutating func next(from source: () throws -> [UInt8]?) throws -> [UInt8]? {
        guard let before = length else {
            length = 0
            return nil
        }
        let piece = rest.isEmpty ? try source() : rest
        rest = []
        guard let piece else {
            guard lineLength == 0 else { throw LogArchiveError(line: lines + 1, "The line is cut off") }
            areRead = true
            return nil
        }
        let end = try scan(piece, atMost: pageBytes - before)
        length = end == nil ? before + piece.count : nil
        guard let end else { return piece }
        rest = Array(piece[end...])
        return Array(piece[..<end])
    }

    /// - Returns: the place behind the first line that ends at so many bytes or later; nil if no such line ends in the piece
    private mutating func scan(_ piece: [UInt8], atMost bytes: Int) throws -> Int? {
        for (index, byte) in piece.enumerated() {
            guard lineLength > 0 || byte == UInt8(ascii: "{") else {
                throw LogArchiveError(line: lines + 1, "This is no JSON object")
            }
            guard byte != UInt8(ascii: "\n") else {
                (lines, lineLength) = (lines + 1, 0)
                if index + 1 >= bytes { return index + 1 }
                continue
            }
            guard byte >= 0x20 || byte == UInt8(ascii: "\t") else {
                throw LogArchiveError(line: lines + 1, "The line has a control character")
            }
            lineLength += 1
            guard lineLength <= LogArchive.lineLimit else {
                throw LogArchiveError(line: lines + 1, "The line is longer than \(LogArchive.lineLimit) bytes")
            }
        }
        return nil
    }
}

internal import Encoding
public import Postgres
internal import Synchronization

/// Writes the lines of an archive, of one snapshot, so that the log may grow meanwhile. Memory does not grow with the log.
public struct LogExport: Sendable {
    private static let linesAProgress: Int64 = 10_000
    private static let pieceBytes = 128 * 1_024

    private let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// - Parameters:
    ///   - sink: gets the next bytes. The thread of a connection calls it, and it may block.
    ///   - progress: the number of recorded events written, and the number of all
    /// - Throws: ``LogGapError``; ``FormatError`` if a line is too long for an import; `PostgresError`; the error of the sink
    public func write(
        to sink: @escaping @Sendable ([UInt8]) throws -> Void,
        progress: @escaping @Sendable (_ recorded: Int64, _ of: Int64) -> Void = { _, _ in }
    ) async throws -> LogArchive.Summary {
        try await client.withLongTransaction { connection in
            try await connection.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY")
            let (tail, commands) = try await connection.query("SELECT log.tail(), (SELECT count(*) FROM log.commands)")
                .decode((Int64, Int64).self)[0]
            let state = Mutex((piece: [UInt8](), lines: Int64(0)))
            let writeLine: @Sendable (RawSpan) throws -> Void = { line in
                let (piece, lines) = try state.withLock { state -> ([UInt8], Int64) in
                    guard line.byteCount <= LogArchive.lineLimit else {
                        throw FormatError("line \(state.lines + 1) would be longer than \(LogArchive.lineLimit) bytes")
                    }
                    state.piece.append(line)
                    state.lines += 1
                    guard state.piece.count >= Self.pieceBytes else { return ([], state.lines) }
                    defer { state.piece.removeAll(keepingCapacity: true) }
                    return (state.piece, state.lines)
                }
                if !piece.isEmpty { try sink(piece) }
                if lines % Self.linesAProgress == 0 { progress(min(lines, tail), tail) }
            }
            progress(0, tail)
            try await connection.copyOut(Self.rawLines(of: Self.recordedEvents), row: writeLine)
            let recordedEvents = state.withLock { $0.lines }
            guard recordedEvents == tail else {
                // The first hole, wherever it is.
                try await LogReader(client: client).replay { _ in }
                throw LogGapError(after: recordedEvents)
            }
            try await connection.copyOut(Self.rawLines(of: Self.commandsWithoutEvents), row: writeLine)
            try sink(state.withLock { $0.piece })
            progress(tail, tail)
            return LogArchive.Summary(recordedEvents: recordedEvents, commands: commands)
        }
    }

    /// PostgreSQL writes the lines: facts, personal members and metadata are its own bytes, and times have their microseconds.
    /// The command is looked up for each event, since a join would sort the log.
    private static let recordedEvents = #"""
        SELECT format(
            '{"specversion":"1.0","id":"%s","source":"/log/%s","type":%s,"subject":%s,"time":"%s","position":%s,"streamversion":%s,'
                '"format":%s%s,"datacontenttype":"application/json","data":{"facts":%s,"personal":%s,"metadata":%s}}',
            e.id, \#(firstID), to_json(e.type), to_json(e.stream),
            to_char(e.recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), e.position, e.version, e.format,
            (SELECT format(',"requesthash":"%s","owner":%s', encode(c.request_hash, 'hex'), to_json(c.owner))
                FROM log.commands AS c WHERE c.position = e.position),
            \#(embedded("data")), \#(embedded("personal")), \#(embedded("metadata"))
        ) FROM log.recorded_events AS e ORDER BY position
        """#

    private static let commandsWithoutEvents = #"""
        SELECT format(
            '{"specversion":"1.0","id":"%s","source":"/log/%s","type":"Command","subject":%s,"streamversion":%s,'
                '"requesthash":"%s","owner":%s}',
            id, \#(firstID), to_json(stream), version, encode(request_hash, 'hex'), to_json(owner)
        ) FROM log.commands WHERE id IS NOT NULL ORDER BY id
        """#

    /// Identifies the log, also after an import.
    private static let firstID = "(SELECT id FROM log.recorded_events ORDER BY position LIMIT 1)"

    /// An object as its stored bytes; as a string if these have line breaks or space around them, which a line would not keep,
    /// or U+0000 or a surrogate, which PostgreSQL's operators on JSON refuse.
    private static func embedded(_ column: String) -> String {
        #"""
        CASE WHEN \#(column)::text ~ '^\{[^\n\r]*\}$' AND \#(column)::text !~* '\\u(0000|d[89a-f])' THEN \#(column)::text
            ELSE coalesce(to_json(\#(column)::text)::text, 'null') END
        """#
    }

    /// JSON has no control characters, so that nothing in a line is quoted or escaped once more.
    private static func rawLines(of select: String) -> String {
        #"COPY (\#(select)) TO STDOUT (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')"#
    }
}

public import Encoding
internal import Hashing
public import Postgres
internal import Synchronization

/// Writes the log as an archive, of one snapshot, so that it may grow meanwhile. Memory does not grow with the log.
public struct LogExport: Sendable {
    private let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// - Parameters:
    ///   - sink: gets the next bytes. The thread of a connection calls it, and it may block.
    ///   - progress: the number of lines written, and the number of all
    /// - Throws: ``LogGapError``, ``FormatError``, `PostgresError`, and the error of the sink
    public func write(
        at now: Timestamp, to sink: @escaping @Sendable ([UInt8]) throws -> Void,
        progress: @escaping @Sendable (_ lines: Int64, _ of: Int64) -> Void = { _, _ in }
    ) async throws -> LogArchive.Summary {
        try await client.withConnection { connection in
            try await connection.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            let summary = try await connection.withoutTimeout { connection in
                let header = try await header(at: now, connection)
                let lines = ArchiveLines(total: header.lastPosition + header.commands, sink: sink, progress: progress)
                lines.write(header.json)
                try await connection.copyOut(Self.rawLines(of: Self.recordedEvents)) { try lines.writeLine($0) }
                let recordedEvents = lines.count
                guard recordedEvents == header.lastPosition else {
                    // The first hole, wherever it is.
                    try await LogReader(client: client).replay { _ in }
                    throw LogGapError(after: recordedEvents)
                }
                try await connection.copyOut(Self.rawLines(of: Self.commands)) { try lines.writeLine($0) }
                return try lines.finish(recordedEvents: recordedEvents)
            }
            try await connection.query("COMMIT")
            return summary
        }
    }

    private func header(at now: Timestamp, _ connection: LeasedConnection) async throws -> LogArchive.Header {
        let answers = try await connection.run([
            "SELECT name FROM humon.migrations ORDER BY name", "SELECT log.tail(), (SELECT count(*) FROM log.commands)",
        ])
        let (tail, commands) = try answers[1].decode((Int64, Int64).self)[0]
        guard tail <= LogArchive.countLimit else { throw FormatError("position \(tail): no log reaches it without a hole") }
        return LogArchive.Header(
            createdAt: now, migrations: try answers[0].decode(String.self), lastPosition: tail, commands: commands)
    }

    /// PostgreSQL writes the lines: data and metadata are its own bytes, as a JSON string, and times have their microseconds.
    private static let recordedEvents = #"""
        SELECT format(
            '{"position":%s,"id":"%s","stream":%s,"version":%s,"type":%s,"format":%s,"recorded_at":"%s","data":%s,"metadata":%s,'
                '"personal":%s,"personal_sha256":%s}',
            position, id, to_json(stream), version, to_json(type), format,
            to_char(recorded_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"'), to_json(data::text), to_json(metadata::text),
            coalesce(to_json(personal::text)::text, 'null'), coalesce(to_json(encode(personal_digest, 'hex'))::text, 'null')
        ) FROM log.recorded_events ORDER BY position
        """#

    private static let commands = #"""
        SELECT format(
            '{"command":"%s","request_hash":"%s","stream":%s,"version":%s,"owner":%s}',
            id, encode(request_hash, 'hex'), to_json(stream), version, to_json(owner)
        ) FROM log.commands ORDER BY id
        """#

    /// JSON has no control characters, so that nothing in a line is quoted or escaped once more.
    private static func rawLines(of select: String) -> String {
        #"COPY (\#(select)) TO STDOUT (FORMAT csv, QUOTE E'\x01', DELIMITER E'\x02')"#
    }
}

/// Lines on their way out: gathered into pieces, counted, and hashed.
private final class ArchiveLines: Sendable {
    fileprivate struct State: Sendable {
        var piece: [UInt8] = []
        var hash = SHA256()
        /// Behind the header.
        var count: Int64 = 0
    }

    private static let linesAProgress: Int64 = 10_000

    private let total: Int64
    private let sink: @Sendable ([UInt8]) throws -> Void
    private let progress: @Sendable (Int64, Int64) -> Void
    private let state = Mutex(State())

    init(
        total: Int64, sink: @escaping @Sendable ([UInt8]) throws -> Void, progress: @escaping @Sendable (Int64, Int64) -> Void
    ) {
        self.total = total
        self.sink = sink
        self.progress = progress
    }

    var count: Int64 { state.withLock { $0.count } }

    func write(_ header: JSON) {
        state.withLock { $0.piece += header.utf8 + [UInt8(ascii: "\n")] }
        progress(0, total)
    }

    /// With its line feed.
    func writeLine(_ bytes: RawSpan) throws {
        let (piece, count) = state.withLock { state -> ([UInt8]?, Int64) in
            state.piece.append(bytes)
            state.count += 1
            guard state.piece.count >= LogArchive.pieceSize else { return (nil, state.count) }
            return (state.takePiece(), state.count)
        }
        if let piece { try sink(piece) }
        if count % Self.linesAProgress == 0 { progress(count, total) }
    }

    func finish(recordedEvents: Int64) throws -> LogArchive.Summary {
        let (piece, digest, count) = state.withLock { ($0.takePiece(), $0.hash.finalize().hexadecimal, $0.count) }
        let summary = LogArchive.Summary(recordedEvents: recordedEvents, commands: count - recordedEvents, sha256: digest)
        try sink(piece + summary.json.utf8 + [UInt8(ascii: "\n")])
        progress(count, total)
        return summary
    }
}

extension ArchiveLines.State {
    fileprivate mutating func takePiece() -> [UInt8] {
        hash.update(piece)
        defer { piece.removeAll(keepingCapacity: true) }
        return piece
    }
}

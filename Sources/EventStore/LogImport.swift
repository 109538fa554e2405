public import Postgres
internal import Synchronization

/// Brings an archive into an empty log: all of it or nothing. Positions, ids, times and bytes stay what they were.
public struct LogImport: Sendable {
    private let client: PostgresClient

    /// - Parameter client: with the rights to set the sequences, which the application does not have
    public init(client: PostgresClient) { self.client = client }

    /// Reads an archive and checks every line as it goes in; whatever does not add up rolls everything back.
    /// - Parameters:
    ///   - source: gives the next bytes, and nil at the end, on the thread of a connection, which it may block; it must throw where
    ///     the end is not the true one
    ///   - progress: how many recorded events of so many are read
    /// - Returns: what the archive says of itself
    /// - Throws: ``LogArchiveError``, and what the source throws
    public func read(
        from source: @escaping @Sendable () throws -> [UInt8]?, decodedBy domainEvents: [any DomainEvent.Type],
        sequences: [NumberSequence], progress: @escaping @Sendable (_ recorded: Int64, _ of: Int64) -> Void = { _, _ in }
    ) async throws -> LogArchive.Header {
        try await client.withTransaction { connection in
            try await connection.withoutTimeout { connection in
                try await connection.query("SELECT log.lock()")
                try await refuseUnlessEmpty(connection)
                let archive = try SharedReader(LogArchiveReader(decodedBy: domainEvents, source: source))
                let header = archive.header
                progress(0, header.lastPosition)
                try await naming(firstLine: 2) {
                    try await connection.copyIn(
                        """
                        COPY log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
                        FROM STDIN
                        """
                    ) {
                        let piece = try archive.reader.withLock { try $0.nextRecordedEvents() }
                        progress(archive.reader.withLock { $0.recordedEvents }, header.lastPosition)
                        return piece
                    }
                }
                try await naming(firstLine: header.lastPosition + 2) {
                    try await connection.copyIn("COPY log.commands (id, fingerprint, stream, version) FROM STDIN") {
                        try archive.reader.withLock { try $0.nextCommands() }
                    }
                }
                try await refuseDisorder(header, connection)
                try await NumberSequence.advance(sequences, connection)
                return header
            }
        }
    }

    private func refuseUnlessEmpty(_ connection: PostgresConnection) async throws {
        let isEmpty = try await connection.query(
            "SELECT log.tail() = 0 AND NOT EXISTS (SELECT FROM log.commands)"
        ).decode(Bool.self)
        guard isEmpty == [true] else {
            throw LogArchiveError("The log of this database is not empty: an archive goes into an empty log only")
        }
        // It holds numbers back for new users and events, which the archive may have given to others.
        let isServed = try await connection.query(
            "SELECT coalesce(max(served_at) > clock_timestamp() - interval '1 minute', false) FROM log.checkpoints"
        ).decode(Bool.self)
        guard isServed == [false] else {
            throw LogArchiveError("A server works on this database, or did a minute ago: stop it, and wait a minute")
        }
    }

    /// What the lines one by one cannot tell.
    private func refuseDisorder(_ header: LogArchive.Header, _ connection: PostgresConnection) async throws {
        let tables = try await LogTables(connection: connection, through: header.lastPosition)
        if let fault = try await tables.faultyVersions(limit: 1).first {
            throw LogArchiveError(line: fault.position.map { $0 + 1 }, fault.reason)
        }
        if let fault = try await tables.unansweredCommands(limit: 1).first {
            throw LogArchiveError(line: fault.rank.map { header.lastPosition + 1 + $0 }, fault.reason)
        }
    }

    /// PostgreSQL counts the lines of a COPY; the archive has others before them.
    private func naming(firstLine: Int64, _ copy: () async throws -> Void) async throws {
        do { try await copy() } catch PostgresError.refused(let refusal) {
            guard let line = refusal.copyLine else { throw PostgresError.refused(refusal) }
            throw LogArchiveError(line: firstLine + line - 1, Self.sentence(on: refusal))
        }
    }

    private static func sentence(on refusal: PostgresError.Refusal) -> String {
        switch refusal.constraint {
        case "recorded_events_id": "the id stands on a line before"
        case "recorded_events_stream_version": "the version of the stream stands on a line before"
        case _: "\(refusal)"
        }
    }
}

/// A reader that the thread of a connection and a task use in turns.
private final class SharedReader: Sendable {
    let header: LogArchive.Header
    let reader: Mutex<LogArchiveReader>

    init(_ reader: consuming sending LogArchiveReader) {
        header = reader.header
        self.reader = Mutex(reader)
    }
}

public import Postgres
internal import Synchronization

/// Imports an archive into an empty log, completely or not at all. Positions, ids, times and bytes stay the same.
public struct LogImport: Sendable {
    private let client: PostgresClient

    /// - Parameter client: with the rights to set the sequences, which the application does not have
    public init(client: PostgresClient) { self.client = client }

    /// Reads an archive and checks every line as it goes in; whatever does not add up rolls everything back.
    /// - Parameters:
    ///   - source: returns the next bytes, or nil at the end. The thread of a connection calls it, and it may block. It must throw if
    ///     the archive is incomplete.
    ///   - isTrial: whether to check the whole archive and then roll the transaction back
    ///   - progress: the number of recorded events that are read, and the number of all
    /// - Returns: the header of the archive
    /// - Throws: ``LogArchiveError``, also for a ``GzipError`` of the source; other errors of the source; `PostgresError`
    public func read(
        from source: @escaping @Sendable () throws -> [UInt8]?, decodedBy domainEvents: [any DomainEvent.Type],
        sequences: [IDSequence], isTrial: Bool = false,
        progress: @escaping @Sendable (_ recorded: Int64, _ of: Int64) -> Void = { _, _ in }
    ) async throws -> LogArchive.Header {
        do { return try await copy(source, domainEvents, sequences, isTrial, progress) } catch let end as TrialEnded {
            return end.header
        }
    }

    /// Rolls the transaction of a trial back.
    private struct TrialEnded: Error {
        var header: LogArchive.Header
    }

    private func copy(
        _ source: @escaping @Sendable () throws -> [UInt8]?, _ domainEvents: [any DomainEvent.Type],
        _ sequences: [IDSequence], _ isTrial: Bool, _ progress: @escaping @Sendable (_ recorded: Int64, _ of: Int64) -> Void
    ) async throws -> LogArchive.Header {
        try await client.withLongTransaction { connection in
            try await connection.query("SELECT log.lock()")
            try await refuseUnlessEmpty(connection)
            // The log gets longer without them.
            try await connection.query("SELECT log.leave_inline(ARRAY(SELECT schema FROM log.read_models))")
            let archive = SharedReader {
                try LogArchiveReader(decodedBy: domainEvents) {
                    do { return try source() } catch let error as GzipError { throw LogArchiveError("\(error)") }
                }
            }
            try await naming(firstLine: 2) {
                try await connection.copyIn(
                    """
                    COPY log.recorded_events (
                        position, id, stream, version, type, format, recorded_at, data, metadata, personal, personal_digest
                    ) FROM STDIN
                    """
                ) {
                    try archive.with { reader in
                        progress(reader.recordedEvents, reader.header.lastPosition)
                        return try reader.nextRecordedEvents()
                    }
                }
            }
            let header = try archive.with { $0.header }
            progress(header.lastPosition, header.lastPosition)
            try await naming(firstLine: header.lastPosition + 2) {
                try await connection.copyIn("COPY log.commands (id, request_hash, stream, version, owner) FROM STDIN") {
                    try archive.with { try $0.nextCommands() }
                }
            }
            try await refuseDisorder(header, domainEvents, connection)
            // Before the sequences: they keep their values after a rollback.
            if isTrial { throw TrialEnded(header: header) }
            try await IDSequence.advance(sequences, connection)
            return header
        }
    }

    private func refuseUnlessEmpty(_ connection: LeasedConnection) async throws {
        let isEmpty = try await connection.query(
            "SELECT log.tail() = 0 AND NOT EXISTS (SELECT FROM log.commands)"
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

    /// What the lines one by one cannot tell.
    private func refuseDisorder(
        _ header: LogArchive.Header, _ domainEvents: [any DomainEvent.Type], _ connection: LeasedConnection
    ) async throws {
        let tables = try await LogTables(connection: connection, through: header.lastPosition)
        if let violation = try await tables.faultyVersions(limit: 1).first {
            throw LogArchiveError(line: violation.position.map { $0 + 1 }, violation.reason)
        }
        for domainEvent in domainEvents {
            guard let violation = try await tables.repeatedMembers(of: domainEvent, limit: 1).first else { continue }
            throw LogArchiveError(line: violation.position.map { $0 + 1 }, violation.reason)
        }
        if let violation = try await tables.faultyPersonalMembers(limit: 1).first {
            throw LogArchiveError(line: violation.position.map { $0 + 1 }, violation.reason)
        }
        if let violation = try await tables.unansweredCommands(limit: 1).first {
            throw LogArchiveError(line: violation.rank.map { header.lastPosition + 1 + $0 }, violation.reason)
        }
    }

    /// PostgreSQL counts the lines of a COPY; the archive has others before them.
    private func naming(firstLine: Int64, _ copy: () async throws -> Void) async throws {
        do { try await copy() } catch PostgresError.refused(let refusal) {
            guard let line = refusal.copyLine else { throw PostgresError.refused(refusal) }
            throw LogArchiveError(line: firstLine + line - 1, Self.sentence(on: refusal))
        }
    }

    private static func sentence(on refusal: PostgresError.ServerError) -> String {
        switch refusal.constraint {
        case "recorded_events_id": "the id stands on a line before"
        case "recorded_events_stream_version": "the version of the stream stands on a line before"
        case _: "\(refusal)"
        }
    }
}

/// A reader that the thread of a connection and a task use in turns. It is made by its first use, on that thread, since its
/// source may block.
private final class SharedReader: Sendable {
    private let make: @Sendable () throws -> LogArchiveReader
    private let reader = Mutex<LogArchiveReader?>(nil)

    init(_ make: @escaping @Sendable () throws -> LogArchiveReader) { self.make = make }

    func with<Value: Sendable>(_ body: (inout LogArchiveReader) throws -> Value) throws -> Value {
        try reader.withLock { reader in
            var read = try reader.take() ?? make()
            defer { reader = read }
            return try body(&read)
        }
    }
}

public import Foundation
internal import Hashing
public import Postgres

/// The SHA-256 digest of a request: 32 bytes.
public struct RequestHash: Sendable, Hashable {
    let bytes: [UInt8]

    public init(of request: some Sequence<UInt8>) { bytes = Array(SHA256.hash(request)) }

    init(bytes: [UInt8]) { self.bytes = bytes }

    var bytea: Bytea { Bytea(bytes: bytes) }
}

/// The identity of a command that its caller may repeat.
public struct IdempotencyRecordKey: Sendable, Hashable {
    /// The id of the domain event that the command records. The same key of the same user gives the same id.
    public var id: UUID
    public var requestHash: RequestHash

    public init(id: UUID, requestHash: RequestHash) {
        self.id = id
        self.requestHash = requestHash
    }
}

/// The result of a command that carried an idempotency key.
struct IdempotencyRecord: Hashable {
    var requestHash: RequestHash
    var appended: AppendResult

    static func query(_ ids: [UUID]) -> SQL {
        "SELECT id, fingerprint, position, stream, version FROM log.outcomes(\(ids))"
    }

    static func byID(_ rows: Rows) throws -> [UUID: IdempotencyRecord] {
        let found = try rows.decode((UUID, Bytea, Int64, String, Int32).self).map { id, requestHash, position, stream, version in
            let appended = AppendResult(position: position, stream: StreamName(stream), version: version, isRepeat: true)
            return (id, IdempotencyRecord(requestHash: RequestHash(bytes: requestHash.bytes), appended: appended))
        }
        return Dictionary(found) { first, _ in first }
    }
}

/// The stored results of commands that carried an idempotency key, also of those that changed nothing.
public struct IdempotencyStore: Sendable {
    private let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// Carries a command out, or returns the result of the first command with this key.
    ///
    /// It looks the key up before the command is decided, because the rules may refuse a repetition that they accepted the first time. It
    /// looks once more after a rejection: another node may have finished an earlier attempt meanwhile, and the change of that attempt may be
    /// the reason.
    /// - Throws: ``KeyReusedError``, `PostgresError`, and what the command throws
    public func idempotently(
        _ key: IdempotencyRecordKey?, _ carryOut: () async throws -> AppendResult
    ) async throws -> AppendResult {
        if let first = try await first(of: key) { return first }
        do { return try await carryOut() } catch let rejection as any Rejection {
            guard let first = try await first(of: key) else { throw rejection }
            return first
        }
    }

    /// Ends a command that records no event, because its stream is as the command wants it. It is stored under its key, so that a late
    /// repetition cannot undo what other commands did since.
    ///
    /// The read model may have been behind the log when the command was decided. So the log is asked for the version, as an append asks it.
    /// - Parameters:
    ///   - version: the version of the stream on which the command was decided; 0 if the stream does not exist
    ///   - condition: the command's condition, which nothing has checked
    /// - Returns: the stream, and a position that shows it
    /// - Throws: ``VersionConflictError``, ``UncheckedConditionError`` for a command under a condition, ``KeyReusedError``, `PostgresError`
    public func endWithoutEvent(
        _ key: IdempotencyRecordKey?, stream: StreamName, version: Int32, if condition: AppendCondition? = nil
    ) async throws -> AppendResult {
        guard condition == nil else { throw UncheckedConditionError() }
        let found = try await client.query(
            "SELECT log.tail(), coalesce((SELECT version FROM log.versions(ARRAY[\(stream.description)])), 0)"
        ).decode((Int64, Int32).self)
        let (tail, actual) = found[0]
        guard actual == version else { throw VersionConflictError(stream: stream, expected: version, actual: actual) }
        if let key {
            try await client.query(
                """
                INSERT INTO log.commands (id, fingerprint, stream, version)
                VALUES (\(key.id), \(key.requestHash.bytea), \(stream.description), \(version)) ON CONFLICT DO NOTHING
                """
            )
            // Another command may have used the key at the same time.
            _ = try await first(of: key)
        }
        return AppendResult(position: tail, stream: stream, version: version, isRepeat: true)
    }

    /// The first result of the command; `nil` for a new command and for one without a key.
    private func first(of key: IdempotencyRecordKey?) async throws -> AppendResult? {
        guard let key, let found = try IdempotencyRecord.byID(await client.query(IdempotencyRecord.query([key.id])))[key.id]
        else { return nil }
        guard found.requestHash == key.requestHash else { throw KeyReusedError() }
        return found.appended
    }
}

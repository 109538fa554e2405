internal import Crypto
public import Foundation
public import Postgres

/// The SHA-256 digest of a request: 32 bytes.
public struct RequestHash: Sendable, Hashable {
    let bytes: [UInt8]

    public init(of request: some Sequence<UInt8>) { bytes = Array(SHA256.hash(data: Array(request))) }

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

/// The stored results of commands that carried an idempotency key.
public struct IdempotencyStore: Sendable {
    private let client: PostgresClient

    public init(client: PostgresClient) { self.client = client }

    /// The first result of the command; nil for a new command and for one without a key.
    ///
    /// Callers ask before they decide the command, because the rules may refuse a repetition that they accepted the first time.
    /// - Throws: ``KeyReusedError``, `PostgresError`
    public func first(of key: IdempotencyRecordKey?) async throws -> AppendResult? {
        guard let key, let found = try IdempotencyRecord.byID(await client.query(IdempotencyRecord.query([key.id])))[key.id]
        else { return nil }
        guard found.requestHash == key.requestHash else { throw KeyReusedError() }
        return found.appended
    }

    /// Stores the result of a command that records no event, because an earlier recorded event already has its effect.
    /// - Throws: ``KeyReusedError``, `PostgresError`
    public func remember(_ key: IdempotencyRecordKey?, recordedAs stream: StreamName, version: Int32) async throws {
        guard let key else { return }
        try await client.query(
            """
            INSERT INTO log.commands (id, fingerprint, stream, version)
            VALUES (\(key.id), \(key.requestHash.bytea), \(stream.description), \(version)) ON CONFLICT DO NOTHING
            """
        )
        _ = try await first(of: key)
    }
}

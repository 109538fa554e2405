internal import Foundation
internal import Hashing
internal import Postgres

/// The SHA-256 digest of a request: 32 bytes.
public struct RequestHash: Sendable, Hashable {
    let bytes: [UInt8]

    public init(of request: some Sequence<UInt8>) { bytes = Array(SHA256.hash(request)) }

    init(bytes: [UInt8]) { self.bytes = bytes }

    var bytea: Bytea { Bytea(bytes: bytes) }
}

/// The stored result of a command that carried an idempotency key, also of one that changed nothing.
struct IdempotencyRecord: Hashable {
    var requestHash: RequestHash
    var place: RecordedPlace

    /// The answer to another append with the same id.
    func result(for hash: RequestHash?) -> AppendResult { hash == requestHash ? .repeated(place) : .keyReused }

    static func query(_ ids: [UUID]) -> SQL {
        "SELECT id, request_hash, position, stream, version FROM log.idempotency_records(\(ids))"
    }

    static func byID(_ rows: Rows) throws -> [UUID: IdempotencyRecord] {
        let found = try rows.decode((UUID, Bytea, Int64, String, Int32).self).map { id, requestHash, position, stream, version in
            let place = RecordedPlace(position: position, stream: StreamName(stream), version: version)
            return (id, IdempotencyRecord(requestHash: RequestHash(bytes: requestHash.bytes), place: place))
        }
        return Dictionary(found) { first, _ in first }
    }
}

package import EventStore
internal import Foundation

/// Where a command comes from; kept as the metadata of what it records.
public struct CommandContext: Sendable, Hashable {
    public var requestID: String
    /// The W3C trace id, when one came in: 32 hexadecimal digits.
    public var traceID: String?
    /// Set where the caller may repeat the command.
    public var key: IdempotencyKey?

    public init(requestID: String, traceID: String? = nil, key: IdempotencyKey? = nil) {
        self.requestID = requestID
        self.traceID = traceID
        self.key = key
    }
}

/// What a caller calls a command, so that doing it again does nothing again.
/// Source: draft-ietf-httpapi-idempotency-key-header.
public struct IdempotencyKey: Sendable, Hashable {
    var text: String
    var requestHash: RequestHash

    /// - Parameter request: everything that makes the request what it is; another one under the same key is refused
    public init(_ text: String, request: some Sequence<UInt8>) {
        self.text = text
        requestHash = RequestHash(of: request)
    }
}

extension CommandContext {
    package func metadata(actor: UserID) -> Metadata {
        Metadata(requestID: requestID, actor: actor.rawValue, traceID: traceID)
    }

    /// Keys of different users are different keys.
    package func recordKey(actor: UserID) -> IdempotencyRecordKey? {
        key.map { key in
            IdempotencyRecordKey(id: UUID(derivedFrom: "command \(actor.rawValue) \(key.text)"), requestHash: key.requestHash)
        }
    }
}

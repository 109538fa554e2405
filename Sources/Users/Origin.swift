package import EventStore

/// Where a command comes from; kept as the metadata of what it records.
public struct Origin: Sendable, Hashable {
    public var requestID: String
    /// The W3C trace id, when one came in: 32 hexadecimal digits.
    public var traceID: String?

    public init(requestID: String, traceID: String? = nil) {
        self.requestID = requestID
        self.traceID = traceID
    }
}

extension Origin {
    package func metadata(actor: UserID) -> Metadata {
        Metadata(requestID: requestID, actor: actor.rawValue, traceID: traceID)
    }
}

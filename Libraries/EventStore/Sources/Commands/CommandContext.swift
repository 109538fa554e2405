/// Where a command comes from: the metadata of the domain events that it records, and what its caller relies on.
public struct CommandContext: Sendable, Hashable {
    public var requestID: String
    /// The W3C trace id of the request, 32 hexadecimal digits; `nil` if it has none.
    public var traceID: String?
    /// `nil` if the caller may not repeat the command.
    public var key: IdempotencyKey?
    /// What must hold when the command is recorded, and when it is refused: for example that the caller's token is still alive.
    public var conditions: [AppendCondition]

    public init(requestID: String, traceID: String? = nil, key: IdempotencyKey? = nil, conditions: [AppendCondition] = []) {
        self.requestID = requestID
        self.traceID = traceID
        self.key = key
        self.conditions = conditions
    }

    /// - Parameter actor: the id of the user who sent the command; `nil` if no user did
    public func metadata(actor: Int64?) -> Metadata {
        Metadata(requestID: requestID, actor: actor, traceID: traceID)
    }

    /// The name from which ``Pepper`` makes the id of the append; `nil` if the caller sent no idempotency key.
    func commandName(of caller: StreamName) -> String? { key.map { "command \(caller) \($0.text)" } }
}

/// The person who sends a command, as a lookup of a secret found them.
public struct Caller<ID: Sendable>: Sendable {
    public var id: ID
    /// Holds while the secret is the person's, whose stream it names.
    public var condition: AppendCondition

    public init(id: ID, condition: AppendCondition) {
        self.id = id
        self.condition = condition
    }
}

/// The name that a caller gives a command, so that a repetition of the command changes nothing.
/// Source: draft-ietf-httpapi-idempotency-key-header.
public struct IdempotencyKey: Sendable, Hashable {
    let text: String
    let requestHash: RequestHash

    /// - Parameter request: all that identifies the request; another request under the same key is refused
    public init(_ text: String, request: some Sequence<UInt8>) {
        self.text = text
        requestHash = RequestHash(of: request)
    }
}

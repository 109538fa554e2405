/// A request that was answered, as it is written down.
public struct RequestRecord: Sendable, Hashable {
    public var requestID: String
    public var traceID: String?
    public var method: String
    /// The template; `-` where there was no route.
    public var route: String
    public var status: Int
    /// From the head of the request to its answer, ready to be sent.
    public var nanoseconds: Int
    /// Of the answer's body.
    public var bytes: Int
    public var clientAddress: String?
}

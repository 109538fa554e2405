/// What a client may take of a connection, and of the server through it.
public struct ConnectionLimits: Sendable, Hashable {
    /// In one request; more are as good as too large ones.
    static let headerFields = 100

    /// How long a connection may be silent.
    public var idleSeconds: Int
    /// How long a request may take to arrive, from its first byte to the end of its body; and its connection to begin.
    public var arrivalSeconds: Int
    /// How long its answer may take from then on.
    public var answerSeconds: Int
    /// Of the request line and all header fields together.
    public var headerBytes: Int
    /// What is kept of a body until it has ended; a larger one goes to its route, to be refused.
    public var bodyBytes: Int

    public init(
        idleSeconds: Int = 75, arrivalSeconds: Int = 20, answerSeconds: Int = 30, headerBytes: Int = 32 * 1024,
        bodyBytes: Int = 64 * 1024
    ) {
        self.idleSeconds = idleSeconds
        self.arrivalSeconds = arrivalSeconds
        self.answerSeconds = answerSeconds
        self.headerBytes = headerBytes
        self.bodyBytes = bodyBytes
    }
}

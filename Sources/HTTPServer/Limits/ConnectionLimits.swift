/// Limits of one connection.
public struct ConnectionLimits: Sendable, Hashable {
    /// Maximum number of header fields in one request. More are answered like header fields that are too large.
    static let headerFields = 100
    /// Maximum number of immediate responses per read, so that one connection cannot starve the event loop.
    static let immediateResponses = 16

    /// Seconds that a connection may be silent.
    public var idleSeconds: Int
    /// Seconds that a request may take to arrive, from its first byte to the end of its body. Also the limit of a TLS handshake.
    public var arrivalSeconds: Int
    /// Seconds that its response may take from then on. Also the limit for sending the rest of the last response.
    public var responseSeconds: Int
    /// Bytes of the request line and all header fields together.
    public var headerBytes: Int
    /// Bytes of a body that are kept until the body is whole. A larger body reaches its route cut off, to be refused.
    public var bodyBytes: Int

    public init(
        idleSeconds: Int = 75, arrivalSeconds: Int = 20, responseSeconds: Int = 30, headerBytes: Int = 32 * 1024,
        bodyBytes: Int = 64 * 1024
    ) {
        self.idleSeconds = idleSeconds
        self.arrivalSeconds = arrivalSeconds
        self.responseSeconds = responseSeconds
        self.headerBytes = headerBytes
        self.bodyBytes = bodyBytes
    }
}

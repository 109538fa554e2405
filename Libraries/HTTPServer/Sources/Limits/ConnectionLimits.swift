/// Limits of one connection.
public struct ConnectionLimits: Sendable, Hashable {
    /// Maximum number of header fields in one request. More fields are refused like fields that are too large.
    static let headerFields = 100
    /// Maximum number of immediate responses per read, so that one connection cannot starve the event loop.
    static let immediateResponses = 16

    /// Maximum number of seconds that a connection may be silent.
    public var idleSeconds = 75
    /// Maximum number of seconds from the first byte of a request to the end of its body.
    public var arrivalSeconds = 20
    /// Maximum number of seconds from the end of a request to its response. Also the limit for sending the rest of the last
    /// response.
    public var responseSeconds = 30
    /// Maximum number of bytes of the request line and all header fields together.
    public var headerBytes = 32 * 1024
    /// Maximum number of bytes of a body. A larger body reaches its route truncated, so that the route refuses it.
    public var bodyBytes = 64 * 1024

    public init() {}
}

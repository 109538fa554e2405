/// The configuration of a ``Server``, with defaults.
public struct ServerConfiguration: Sendable {
    /// An IPv4 or IPv6 address, or a name; `::` listens on both.
    public var host: String
    /// 0 takes a free port.
    public var port: Int
    public var limits = ConnectionLimits()
    /// Maximum number of connections. For a further one the connection goes that has been idle for the longest time. While all are busy,
    /// one more is accepted, and others wait in the kernel's queue.
    public var maximumConnections = 10_000
    /// Maximum number of connections of one client address, or of one /64 in IPv6; 0 for no limit. Further ones are closed. Trusted
    /// proxies have no such limit.
    public var maximumConnectionsPerAddress = 0
    /// Length of the kernel's queue, which the system may limit (`net.core.somaxconn`).
    public var backlog: Int32 = 4_096
    public var trustedProxies = TrustedProxies.loopback
    /// Shared by several servers, it limits them together.
    public var inFlight = InFlightRequests()
    public var budget = BufferBudget()
    /// Shared by several servers, it limits their open streams together.
    public var streams = OpenStreams()
    public var drain = Drain()

    public init(host: String, port: Int) { (self.host, self.port) = (host, port) }
}

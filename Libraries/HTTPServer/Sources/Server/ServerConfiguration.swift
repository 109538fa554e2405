/// The configuration of a ``Server``, with defaults.
public struct ServerConfiguration: Sendable {
    /// The address that the server listens on.
    public enum Address: Sendable, Hashable {
        /// - Parameters:
        ///   - host: an IPv4 or IPv6 address, or a name; `::` listens on both
        ///   - port: 0 takes a free one
        case hostname(_ host: String, port: Int)
        /// An existing socket file is replaced.
        case unixSocket(path: String)
    }

    public var address: Address
    /// `nil` for plain HTTP/1.1. With a certificate the server speaks TLS only, with HTTP/2 for clients that offer it.
    public var certificate: ServerCertificate?
    public var limits = ConnectionLimits()
    /// Maximum number of connections. Further ones wait in the kernel's queue.
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
    public var acceptFailures = AcceptFailures()

    public init(address: Address, certificate: ServerCertificate? = nil) {
        self.address = address
        self.certificate = certificate
    }
}

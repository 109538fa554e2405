internal import HTTPTypes
internal import NIOCore

/// The connection that a request came on: from a client, or from a proxy on behalf of one.
public struct ConnectionInfo: Sendable {
    public let peer: Peer
    /// Whether the peer is a proxy whose `Forwarded`, `X-Forwarded-…`, `X-Request-Id` and `traceparent` count.
    public let isTrustedProxy: Bool
    private let scheme: Scheme
    private let proxies: TrustedProxies
    /// `nil` in tests without a server.
    private let budget: BufferBudget?

    /// - Parameter scheme: the scheme that the peer itself uses
    public init(_ peer: Peer = .unknown, _ scheme: Scheme = .http, trusting proxies: TrustedProxies = .loopback) {
        self.init(peer, scheme, trusting: proxies, budget: nil)
    }

    init(_ peer: Peer, _ scheme: Scheme, trusting proxies: TrustedProxies, budget: BufferBudget?) {
        self.peer = peer
        self.scheme = scheme
        self.proxies = proxies
        self.budget = budget
        isTrustedProxy = proxies.contains(peer)
    }

    /// Reads the proxies' fields, so it is asked for only where a response depends on it.
    func sender(_ headers: HTTPFields) -> Sender {
        var sender = Sender(address: peer.address, scheme: scheme)
        guard isTrustedProxy else { return sender }
        // Each proxy appends the peer that it was asked by. The hop before it counts as long as that peer is trusted too.
        for hop in headers.hops.reversed() {
            sender.scheme = hop.scheme ?? sender.scheme
            guard let address = hop.address else { break }
            sender.address = address
            guard proxies.contains(address) else { break }
        }
        return sender
    }

    /// Whether the server's budget of unsent bytes has room for the response.
    func admits(_ response: Response) -> Bool { budget?.admits(response.body) ?? true }
}

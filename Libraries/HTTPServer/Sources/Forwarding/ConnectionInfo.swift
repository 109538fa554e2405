internal import HTTPTypes
internal import NIOCore

/// The connection that a request came on: from a client, or from a proxy on behalf of one. A class, because all requests of the connection
/// share it, and a copy of a struct would retain each of its members.
public final class ConnectionInfo: Sendable {
    /// The address of the other end; `nil` if it is not known.
    public let peer: NetworkAddress?
    /// Whether the peer is a trusted proxy. Only then `X-Forwarded-…`, `X-Request-Id` and `traceparent` count.
    public let isTrustedProxy: Bool
    private let scheme: Scheme
    private let proxies: TrustedProxies
    /// `nil` in tests without a server.
    private let budget: BufferBudget?
    /// `nil` in tests without a server.
    private let streams: OpenStreams?

    /// - Parameter scheme: the scheme of the connection itself
    public init(
        _ peer: NetworkAddress? = nil, _ scheme: Scheme = .http, trusting proxies: TrustedProxies = .loopback,
        budget: BufferBudget? = nil, streams: OpenStreams? = nil
    ) {
        self.peer = peer
        self.scheme = scheme
        self.proxies = proxies
        self.budget = budget
        self.streams = streams
        isTrustedProxy = peer.map(proxies.contains) ?? false
    }

    /// The client behind the proxies. Parses their fields, so call it only if the response depends on the client.
    func sender(_ headers: HTTPFields) -> Sender {
        var sender = Sender(address: peer, scheme: scheme)
        guard isTrustedProxy else { return sender }
        // Each proxy appends the address of its own client. That address counts as long as the next proxy is trusted too.
        for hop in headers.hops.reversed() {
            sender.scheme = hop.scheme ?? sender.scheme
            guard let address = hop.address else { break }
            sender.address = address
            guard proxies.contains(address) else { break }
        }
        return sender
    }

    func isFromThisMachine(_ headers: HTTPFields) -> Bool {
        let hops = headers.hops
        guard hops.allSatisfy({ $0.address?.isLoopback == true }) else { return false }
        return peer?.isLoopback == true
    }

    /// Counts the body of a response in the server's budget of unsent bytes.
    /// - Throws: what ``BufferBudget/reserve(_:)`` throws
    func reserveBody(of response: inout Response) throws(HTTPError) { response.reserved = try budget?.reserve(response.body) }

    /// Counts the stream of a response to a request with these header fields.
    /// - Throws: what `OpenStreams.permit(for:)` throws
    func permitStream(of response: inout Response, to headers: HTTPFields) throws(HTTPError) {
        guard let stream = response.stream, let streams else { return }
        let client = StreamClient(address: sender(headers).address?.subscriber, user: stream.user)
        response.stream?.permit = try streams.permit(for: client)
    }
}

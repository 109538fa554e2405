internal import HTTPTypes

/// Whom a request came from at first hand: a client, or a proxy on behalf of one.
struct Arrival: Sendable {
    let peer: Peer
    /// Whether it is a proxy that is believed. Then it is believed as well what the request is called.
    let isVouchedFor: Bool
    private let scheme: Client.Scheme
    private let proxies: TrustedProxies

    /// - Parameter scheme: what the peer itself speaks
    init(_ peer: Peer, _ scheme: Client.Scheme, believing proxies: TrustedProxies) {
        self.peer = peer
        self.scheme = scheme
        self.proxies = proxies
        isVouchedFor = proxies.contains(peer)
    }

    /// Who sent the request, as far as that can be known. Most answers do not depend on it.
    func client(_ headers: HTTPFields) -> Client {
        var client = Client(address: peer.address, scheme: scheme)
        guard isVouchedFor else { return client }
        // Each proxy adds to the end whom it was asked by: as long as that one is believed too, so is what stands before it.
        for hop in headers.hops.reversed() {
            client.scheme = hop.scheme ?? client.scheme
            guard let address = hop.address else { break }
            client.address = address
            guard proxies.contains(address) else { break }
        }
        return client
    }
}

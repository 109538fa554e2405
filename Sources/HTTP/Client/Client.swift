internal import NIOCore

/// Who sent a request, as far as that can be known.
public struct Client: Sendable, Hashable {
    public enum Scheme: String, Sendable {
        case http
        case https
    }

    /// nil where nobody told: behind a Unix socket, for one.
    public var address: NetworkAddress?
    /// What the client itself speaks, not the proxy.
    public var scheme: Scheme
}

/// The other end of a connection.
enum Peer: Sendable, Hashable {
    case address(NetworkAddress)
    case unixSocket
    case unknown

    init(_ address: SocketAddress?) {
        switch address {
        case .unixDomainSocket: self = .unixSocket
        case .v4, .v6: self = address.flatMap { NetworkAddress($0) }.map(Peer.address) ?? .unknown
        case nil: self = .unknown
        }
    }

    var address: NetworkAddress? {
        switch self {
        case .address(let address): address
        case .unixSocket, .unknown: nil
        }
    }
}

internal import NIOCore

/// The client that sent a request, as far as the server can know it.
public struct Sender: Sendable, Hashable {
    /// `nil` if the address is unknown, for instance on a Unix socket without a proxy.
    public var address: NetworkAddress?
    /// The scheme of the client's own connection, not of the proxy's.
    public var scheme: Scheme
}

/// The scheme of a URL.
public enum Scheme: String, Sendable {
    case http
    case https
}

/// The other end of a connection.
public enum Peer: Sendable, Hashable {
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

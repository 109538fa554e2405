internal import NIOCore

/// The client that sent a request, as far as the server can know it.
public struct Sender: Sendable, Hashable {
    /// `nil` if the address is unknown.
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
    case unknown

    init(_ address: SocketAddress?) {
        self = address.flatMap { NetworkAddress($0) }.map(Peer.address) ?? .unknown
    }

    var address: NetworkAddress? {
        switch self {
        case .address(let address): address
        case .unknown: nil
        }
    }
}

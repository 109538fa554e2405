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

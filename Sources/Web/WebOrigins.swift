public import HTTPServer
internal import HTTPTypes

/// The origins that the map page has for its visitors. Only a page of one of them may use a session.
public enum WebOrigins: Sendable, Hashable {
    /// `localhost`, `127.0.0.1` and `[::1]`, with any port, for clients on this machine.
    case loopback
    case these([Origin])

    /// - Parameter list: `loopback`, or origins such as `https://map.example.org`, separated by commas
    /// - Returns: `nil` if one of them is not an origin
    public init?(_ list: String) {
        if list == "loopback" {
            self = .loopback
            return
        }
        guard let origins = [Origin](list: list) else { return nil }
        self = .these(origins)
    }

    /// The first one, by which pages and calendars name their own addresses; `nil` for loopback. No field of a request names them: any
    /// client could then write an address into what a cache keeps for others.
    public var canonical: Origin? {
        switch self {
        case .loopback: nil
        case .these(let origins): origins.first
        }
    }

    /// Whether a request comes from the page itself.
    ///
    /// The name in `Host` must be known: after DNS rebinding a foreign page has the same origin as this server, under a name of its own.
    /// Browsers send `Sec-Fetch-Site` to https and loopback addresses; otherwise `Origin` decides. A page can set none of the three.
    /// Every other client can set all three, so a loopback name counts for clients on this machine only.
    /// Sources: W3C *Fetch Metadata Request Headers*; RFC 6454, section 7.
    func isFromPage(_ request: Request, _ context: RequestContext) -> Bool {
        guard let host = request.head.authority ?? request.headers.value(of: .host), allows(host: host) else { return false }
        if self == .loopback, !context.isFromThisMachine(request) { return false }
        if let site = request.headers.value(of: .secFetchSite) { return site == "same-origin" }
        guard let origin = request.headers.value(of: .origin).flatMap({ Origin($0) }) else { return false }
        switch self {
        // The name of the host is a loopback name, so the origin is one.
        case .loopback: return origin == Origin("\(origin.scheme)://\(host)")
        case .these(let origins): return origins.contains(origin)
        }
    }

    /// - Parameter host: the value of `Host`. Its port does not count: a proxy may pass the name alone.
    private func allows(host: String) -> Bool {
        guard let name = Origin("http://\(host)")?.host else { return false }
        switch self {
        case .loopback: return ["localhost", "127.0.0.1", "[::1]"].contains(name)
        case .these(let origins): return origins.contains { $0.host == name }
        }
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name(literal: "sec-fetch-site")
    static let host = HTTPField.Name(literal: "host")
}

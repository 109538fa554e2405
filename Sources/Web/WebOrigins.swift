internal import HTTPServer
internal import HTTPTypes

/// The origins that the map page has for its visitors. Only a page of one of them may use a session.
public enum WebOrigins: Sendable, Hashable {
    /// `localhost`, `127.0.0.1` and `[::1]`, with any port, for clients on this machine.
    case loopback
    case these(Set<String>)

    /// - Parameter list: `loopback`, or origins as browsers send them (`https://map.example.org`), separated by commas
    /// - Returns: `nil` if one of them is not an origin
    public init?(_ list: String) {
        if list == "loopback" {
            self = .loopback
            return
        }
        let origins = list.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingSpaces.lowercased() }
        guard origins.allSatisfy({ Self.host(ofOrigin: $0[...]) != nil }) else { return nil }
        self = .these(Set(origins))
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
        guard let origin = request.headers.value(of: .origin)?.lowercased() else { return false }
        switch self {
        // The name of the host is a loopback name, so the origin is one.
        case .loopback: return ["http://", "https://"].contains { origin == $0 + host.lowercased() }
        case .these(let origins): return origins.contains(origin)
        }
    }

    /// - Parameter host: the value of `Host`. Its port does not count: a proxy may pass the name alone.
    private func allows(host: String) -> Bool {
        guard let name = Self.name(ofAuthority: host.lowercased()[...]) else { return false }
        switch self {
        case .loopback: return Self.isLoopback(name)
        case .these(let origins): return origins.contains { Self.host(ofOrigin: $0[...]) == name }
        }
    }

    private static func isLoopback(_ name: Substring) -> Bool { ["localhost", "127.0.0.1", "[::1]"].contains(name) }

    /// - Returns: `nil` for a text that is not an origin
    private static func host(ofOrigin origin: Substring) -> Substring? {
        guard let match = origin.wholeMatch(of: /https?:\/\/([^\/?#,\s@]+)/) else { return nil }
        return name(ofAuthority: match.1)
    }

    /// The name without the port.
    private static func name(ofAuthority authority: Substring) -> Substring? {
        authority.wholeMatch(of: /(\[[0-9a-f:.]+\]|[^:\[\]]+)(?::[0-9]+)?/)?.1
    }
}

extension HTTPField.Name {
    static let secFetchSite = HTTPField.Name(literal: "sec-fetch-site")
    static let host = HTTPField.Name(literal: "host")
}

/// The origin of a web page: `https://app.example.org`. Two texts of one origin are equal: the case of letters and a port that the scheme
/// has anyway make no difference.
///
/// Sources: RFC 6454, sections 4 and 6; WHATWG *URL*, section 3 for names and addresses.
public struct Origin: Sendable, Hashable, CustomStringConvertible {
    public let scheme: String
    /// In lower case; an IPv6 address has brackets.
    public let host: String
    public let port: Int

    /// The origin as browsers write it, without the port that the scheme has anyway.
    public var description: String { "\(scheme)://\(host)" + (Self.defaultPorts[scheme] == port ? "" : ":\(port)") }

    private static let defaultPorts = ["http": 80, "https": 443]

    /// - Parameter text: a scheme, a host and perhaps a port, and nothing behind them. A name is written as browsers send it: letters outside
    ///   of ASCII as Punycode.
    /// - Returns: `nil` for anything else, also for `null`
    public init?(_ text: some StringProtocol) {
        guard
            let match = text.lowercased().wholeMatch(
                of: /(https?):\/\/(?:\[([0-9a-f:.]+)\]|([a-z0-9_-]+(?:\.[a-z0-9_-]+)*\.?))(?::([0-9]{1,5}))?/),
            let host = match.2.map(Self.address) ?? match.3.map(Self.name) ?? nil,
            let port = match.4.map({ Int($0) }) ?? Self.defaultPorts[String(match.1)], port <= UInt16.max
        else { return nil }
        (scheme, self.host, self.port) = (String(match.1), host, port)
    }

    private static func address(_ text: Substring) -> String? {
        text.contains(":") ? NetworkAddress(text).map { "[\($0)]" } : nil
    }

    /// A name that ends in a number, decimal or hexadecimal, is an IPv4 address, and must have its four decimal parts.
    private static func name(_ text: Substring) -> String? {
        let last = text.split(separator: ".").last ?? ""
        guard last.wholeMatch(of: /[0-9]+|0x[0-9a-f]*/) != nil else { return String(text) }
        return NetworkAddress(text).map { "\($0)" }
    }
}

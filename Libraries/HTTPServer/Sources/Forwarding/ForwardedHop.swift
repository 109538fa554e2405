internal import Encoding
internal import HTTPTypes

/// One proxy's statement about its client. An unreadable part is `nil`.
struct ForwardedHop: Sendable, Hashable {
    var address: NetworkAddress?
    var scheme: Scheme?
}

extension HTTPFields {
    /// Maximum number of hops that are read. A trusted proxy passes on what its client wrote: 32 KB have room for 4,000 addresses.
    private static let hopLimit = 64

    /// The hops of `X-Forwarded-For`, the nearest proxy last, with the schemes of `X-Forwarded-Proto`: one for each address, or only the
    /// client's.
    var hops: [ForwardedHop] {
        guard contains(.xForwardedFor) || contains(.xForwardedProto) else { return [] }
        let addresses = (self[.xForwardedFor] ?? "").parts(separatedBy: ",")
        let schemes = (self[.xForwardedProto] ?? "").parts(separatedBy: ",")
        return addresses.indices.suffix(Self.hopLimit).map { index in
            let scheme = schemes.count == addresses.count ? schemes[index] : schemes.first
            return ForwardedHop(
                address: NetworkAddress(node: addresses[index].trimmingSpaces),
                scheme: scheme.flatMap { Scheme(rawValue: $0.trimmingSpaces.lowercased()) })
        }
    }
}

extension NetworkAddress {
    /// - Parameter node: an address, with a port or without: `192.0.2.1:80`, `[2001:db8::1]:80`, `2001:db8::1`
    fileprivate init?(node: Substring) {
        if node.first == "[" {
            guard let end = node.firstIndex(of: "]") else { return nil }
            self.init(node[node.index(after: node.startIndex)..<end])
        } else if let colon = node.firstIndex(of: ":"), node.lastIndex(of: ":") == colon {
            self.init(node[..<colon])
        } else {
            self.init(node)
        }
    }
}

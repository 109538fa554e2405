internal import Encoding
internal import HTTPTypes

/// One proxy's statement about its client. An unreadable part is `nil`.
struct ForwardedHop: Sendable, Hashable {
    var address: NetworkAddress?
    var scheme: Scheme?
}

extension HTTPFields {
    /// The hops of `X-Forwarded-For` and `X-Forwarded-Proto`, the nearest proxy last.
    var hops: [ForwardedHop] {
        let (addresses, schemes) = (self[.xForwardedFor], self[.xForwardedProto])
        return addresses == nil && schemes == nil ? [] : [ForwardedHop](addresses: addresses ?? "", schemes: schemes ?? "")
    }
}

extension [ForwardedHop] {
    /// Maximum number of hops that are read. A trusted proxy passes on what its client wrote: 32 KB have room for 4,000 addresses.
    private static let limit = 64

    /// - Parameters:
    ///   - addresses: `X-Forwarded-For`
    ///   - schemes: `X-Forwarded-Proto`: one for each address, or only the client's
    fileprivate init(addresses: String, schemes: String) {
        let (addresses, schemes) = (addresses.parts(separatedBy: ","), schemes.parts(separatedBy: ","))
        let isPaired = schemes.count == addresses.count
        self = addresses.indices.suffix(Self.limit).map { index in
            let scheme = isPaired ? schemes[index] : schemes.first
            return ForwardedHop(
                address: NetworkAddress(node: addresses[index].trimmingSpaces), scheme: scheme.flatMap(Scheme.init(token:)))
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

extension Scheme {
    fileprivate init?(token: Substring) { self.init(rawValue: token.trimmingSpaces.lowercased()) }
}

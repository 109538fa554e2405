internal import Encoding
internal import HTTPTypes

/// One proxy's statement about its client. An unreadable part is `nil`.
struct ForwardedHop: Sendable, Hashable {
    var address: NetworkAddress?
    var scheme: Scheme?
}

extension HTTPFields {
    /// The hops, the nearest proxy last. A proxy writes one kind of field and passes the other on as the client sent it, so only one
    /// kind counts: `X-Forwarded-For` and `-Proto`, or `Forwarded` if both are missing.
    var hops: [ForwardedHop] {
        let (addresses, schemes) = (self[.xForwardedFor], self[.xForwardedProto])
        if addresses != nil || schemes != nil { return [ForwardedHop](addresses: addresses ?? "", schemes: schemes ?? "") }
        return self[.forwarded].map([ForwardedHop].init(forwarded:)) ?? []
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

    /// - Parameter header: the value of `Forwarded`; RFC 7239, section 4
    fileprivate init(forwarded header: String) {
        self = header.splitOutsideQuotes(at: ",").suffix(Self.limit).map { element in
            var hop = ForwardedHop()
            for pair in element.splitOutsideQuotes(at: ";") {
                let parts = pair.split(separator: "=", maxSplits: 1)
                guard parts.count == 2 else { continue }
                let value = parts[1].trimmingSpaces.unquoted
                switch parts[0].trimmingSpaces.lowercased() {
                case "for": hop.address = NetworkAddress(node: value)
                case "proto": hop.scheme = Scheme(token: value)
                default: break
                }
            }
            return hop
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

extension StringProtocol where SubSequence == Substring {
    /// A quoted string may contain the separator. Without a closing quote it extends to the end.
    fileprivate func splitOutsideQuotes(at separator: Character) -> [Substring] {
        var (isQuoted, isEscaped) = (false, false)
        return split(omittingEmptySubsequences: false) { character in
            if isEscaped {
                isEscaped = false
            } else if isQuoted, character == "\\" {
                isEscaped = true
            } else if character == "\"" {
                isQuoted.toggle()
            }
            return !isQuoted && character == separator
        }
    }
}

extension Substring {
    /// The values that are read here contain no escapes.
    fileprivate var unquoted: Substring { first == "\"" && last == "\"" ? dropFirst().dropLast() : self }
}

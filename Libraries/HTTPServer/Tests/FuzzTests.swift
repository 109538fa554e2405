import HTTPTypes
import TestChance
import Testing

@testable import HTTPServer

/// Each header is read or refused: a trap would end the test process.
@Suite struct `Reading faulty header fields` {
    private static let count = 4_000

    private static func request(_ name: HTTPField.Name, _ value: String) -> Request {
        Request(head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/", headerFields: [name: value]))
    }

    @Test(arguments: [1, 2] as [UInt64]) func `faulty forwarding fields give addresses that read back, or none`(seed: UInt64)
        throws
    {
        var mutations = Mutations(seed: seed)
        for _ in 0..<Self.count {
            var fields = HTTPFields()
            fields[.xForwardedFor] = mutations.text(of: ["192.0.2.60, 2001:db8::17,[::1]:80", "10.0.0.1:80"])
            fields[.xForwardedProto] = mutations.text(of: ["https, http", "https"])
            try Self.check(fields.hops)
        }
    }

    private static func check(_ hops: [ForwardedHop]) throws {
        for case let address? in hops.map(\.address) { try #require(NetworkAddress(address.description) == address) }
    }

    @Test(arguments: [3, 4] as [UInt64]) func `faulty conditions give entity tags that read back, or none`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [#""1""#, #""1.abcdklmp-zstd""#, #"W/"12-gzip", "2147483648""#, "*", #""9223372036854775807-gzip""#]
        for _ in 0..<Self.count {
            let text = mutations.text(of: inputs)
            if let tag = EntityTag(text) { try #require(EntityTag(tag.description) == tag) }
            for name in [HTTPField.Name.ifMatch, .ifNoneMatch] {
                let request = Self.request(name, text)
                _ = (request.matchesIfNoneMatch(EntityTag(version: 1)), request.ifNoneMatchTags)
            }
        }
    }

    @Test(arguments: [5, 6] as [UInt64]) func `a faulty Accept-Encoding gives an accepted coding, or none`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for _ in 0..<Self.count {
            let accepted = AcceptedWeights(
                mutations.text(of: ["gzip, deflate;q=0.5, br;q=1.0, *;q=0", "identity;q=0, x-gzip;q=0.001"]))
            if let preferred = accepted.preferredCoding { try #require(accepted.accepts(preferred)) }
        }
    }
}

import HTTPTypes
import Hummingbird
import NIOCore
import Notation
import TestChance
import Testing

@testable import HTTP

/// Each header is read or refused with an error: a trap would end the test process.
@Suite struct `Faulty headers` {
    private static let count = 4_000

    private static func request(_ name: HTTPField.Name, _ value: String) -> Request {
        Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/v1/events/12", headerFields: [name: value]),
            body: RequestBody(buffer: ByteBuffer()))
    }

    @Test(arguments: [1, 2] as [UInt64]) func `of proxies name addresses that read back, or none`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for _ in 0..<Self.count {
            var fields: HTTPFields = [
                .forwarded: mutations.text(of: [
                    #"for=192.0.2.60;proto=http;by=203.0.113.43, for="[2001:db8:cafe::17]:4711";proto=https"#,
                    #"for="_gazonk\"x""#,
                ])
            ]
            try Self.check(fields.hops)
            fields[.xForwardedFor] = mutations.text(of: ["192.0.2.60, 2001:db8::17,[::1]:80", "10.0.0.1:80"])
            fields[.xForwardedProto] = mutations.text(of: ["https, http", "https"])
            try Self.check(fields.hops)
        }
    }

    private static func check(_ hops: [ForwardedHop]) throws {
        for case let address? in hops.map(\.address) { try #require(NetworkAddress(address.description) == address) }
    }

    @Test(arguments: [3, 4] as [UInt64]) func `of conditions name tags that read back, or none`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = [#""1""#, #"W/"12-gzip", "2147483648""#, "*", #""9223372036854775807-deflate""#]
        for _ in 0..<Self.count {
            let text = mutations.text(of: inputs)
            if let tag = EntityTag(text) { try #require(EntityTag(tag.description) == tag) }
            for name in [HTTPField.Name.ifMatch, .ifNoneMatch] {
                let request = Self.request(name, text)
                _ = (request.versionCondition, request.knows(EntityTag(version: 1)), request.tagsNotToMatch)
            }
        }
    }

    @Test(arguments: [5, 6] as [UInt64]) func `of codings prefer one that is accepted, or none`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        for _ in 0..<Self.count {
            let accepted = AcceptedCodings(
                mutations.text(of: ["gzip, deflate;q=0.5, br;q=1.0, *;q=0", "identity;q=0, x-gzip;q=0.001"]))
            if let preferred = accepted.preferred { try #require(accepted.accepts(preferred)) }
        }
    }

    @Test(arguments: [7, 8] as [UInt64]) func `of positions and idempotency keys are read, or refused with a 400`(seed: UInt64)
        throws
    {
        var mutations = Mutations(seed: seed)
        let fields = RequestFields(format: .json, json: [:], body: ByteBuffer())
        for _ in 0..<Self.count {
            do {
                if let position = try Self.request(.humonPosition, mutations.text(of: ["12", "9223372036854775807"])).position() {
                    try #require(position >= 0)
                }
                _ = try Self.request(.idempotencyKey, mutations.text(of: ["key-1", #""a \"key\" of mine";x=1"#])).idempotencyKey(
                    fields)
            } catch let refusal as Refusal {
                guard case .badRequest = refusal else { throw refusal }
            }
        }
    }

    @Test(arguments: [9, 10] as [UInt64]) func `of content name a format, or are refused with a 415`(seed: UInt64) throws {
        var mutations = Mutations(seed: seed)
        let inputs = ["application/json; charset=utf-8", "application/x-www-form-urlencoded", "application/merge-patch+json"]
        for _ in 0..<Self.count {
            do {
                _ = try FieldsFormat(contentType: mutations.text(of: inputs), allowing: FieldsFormat.allCases)
            } catch {
                guard case .unsupportedMediaType = error else { throw error }
            }
        }
    }
}

import Encoding
import EventStore
import HTTPServer
import HTTPTypes
import NIOCore
import TestChance
import Testing

@testable import HTTP

/// Each header is read or refused with an error: a trap would end the test process.
@Suite struct `Reading faulty v1 header fields` {
    private static let count = 4_000

    private static func request(_ name: HTTPField.Name, _ value: String) -> Request {
        Request(
            head: HTTPRequest(method: .get, scheme: nil, authority: nil, path: "/v1/events/12", headerFields: [name: value]))
    }

    @Test(arguments: [7, 8] as [UInt64]) func `faulty positions and idempotency keys are read, or refused with 400`(seed: UInt64)
        throws
    {
        var mutations = Mutations(seed: seed)
        let fields = RequestFields(format: .json, json: [:], body: ByteBuffer())
        for _ in 0..<Self.count {
            do {
                let text = mutations.text(of: ["12", "12.kbnapcmd", "9223372036854775807"])
                if let cursor = try Self.request(.humonPosition, text).cursor(in: .humonPosition, "Humon-Position") {
                    try #require(cursor.position >= 0)
                }
                _ = try Self.request(.idempotencyKey, mutations.text(of: ["key-1", #""a \"key\" of mine";x=1"#])).idempotencyKey(
                    fields)
            } catch let error as HTTPError {
                guard error.status == .badRequest else { throw error }
            }
        }
    }

    @Test(arguments: [9, 10] as [UInt64]) func `a faulty content type names a format, or is refused with 415`(seed: UInt64) throws
    {
        var mutations = Mutations(seed: seed)
        let inputs = ["application/json; charset=utf-8", "application/x-www-form-urlencoded", "application/merge-patch+json"]
        for _ in 0..<Self.count {
            do {
                _ = try FieldsFormat(contentType: mutations.text(of: inputs), allowing: FieldsFormat.allCases)
            } catch {
                guard error.status == .unsupportedMediaType else { throw error }
            }
        }
    }
}

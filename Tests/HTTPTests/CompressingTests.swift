import CZlib
import CZstd
import HTTPServer
import HTTPTypes
import TestHTTP
import Testing

@testable import HTTP

@Suite struct `Compressing a response of 1 KiB or more` {
    @Test func `a large response has the coding that the client prefers`() async throws {
        let cases: [(accepted: String, coding: String)] = [
            ("gzip, deflate, br", "gzip"), ("gzip, deflate, br, zstd", "zstd"), ("zstd;q=0.5, gzip", "gzip"),
        ]
        try await TestAPI.with { api in
            let plain = try await api.send(.get, "/v1/openapi.json", headers: [:])
            for (accepted, coding) in cases {
                let answer = try await api.send(.get, "/v1/openapi.json", headers: ["accept-encoding": accepted])
                #expect(answer.status == 200, "\(accepted)")
                #expect(answer.header("content-encoding") == coding, "\(accepted)")
                #expect(answer.header("vary") == "Accept-Encoding", "\(accepted)")
                #expect(answer.header("content-length") == "\(answer.bytes.count)", "\(accepted)")
                #expect(answer.bytes.count < plain.bytes.count / 3, "\(accepted)")
                #expect(answer.bytes.first == ["gzip": 0x1F, "zstd": 0x28][coding], "\(accepted)")
                #expect(decompressed(answer.bytes) == plain.bytes, "\(accepted)")
            }
        }
    }

    @Test func `a large response is not compressed for a client that does not accept it`() async throws {
        try await TestAPI.with { api in
            for accepted in [nil, "identity"] as [String?] {
                let headers = accepted.map { ["accept-encoding": $0] } ?? [:]
                let answer = try await api.send(.get, "/v1/openapi.json", headers: headers)
                #expect(answer.header("content-encoding") == nil, "\(accepted ?? "no field")")
                #expect(answer.header("vary") == "Accept-Encoding", "\(accepted ?? "no field")")
                #expect(answer.json == OpenAPIDocument.json, "\(accepted ?? "no field")")
            }
        }
    }

    @Test(arguments: [TestingSetup.router, .live])
    func `HEAD gets the same compression fields as GET`(setup: TestingSetup) async throws {
        try await TestAPI.with(setup) { api in
            let headers = ["accept-encoding": "gzip"]
            let got = try await api.send(.get, "/v1/openapi.json", headers: headers)
            let told = try await api.send(.head, "/v1/openapi.json", headers: headers)
            #expect((told.status, told.bytes) == (200, []))
            for name in ["content-encoding", "content-length", "content-type", "vary"] {
                #expect(told.header(name) == got.header(name), "\(name)")
            }
        }
    }

    @Test func `a list of events is compressed`() async throws {
        try await TestAPI.with { api in
            for _ in 0..<10 { _ = try await api.createEvent() }
            let path = "/v1/events/nearests?lat=37.76&lon=-122.43"
            let plain = try await api.send(.get, path, headers: [:])
            let answer = try await api.send(.get, path, headers: ["accept-encoding": "gzip"])
            #expect(answer.header("content-encoding") == "gzip")
            #expect(decompressed(answer.bytes) == plain.bytes)
        }
    }
}

@Suite struct `Small and empty responses` {
    @Test func `a small response is not compressed`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent()
            for path in ["/v1/events/1", "/health", "/v1/events/9"] {
                let answer = try await api.send(.get, path, headers: ["accept-encoding": "gzip"])
                #expect(answer.json != nil, "\(path)")
                #expect(answer.header("content-encoding") == nil, "\(path)")
                #expect(answer.header("vary") == nil, "\(path)")
            }
        }
    }

    @Test(arguments: [TestingSetup.router, .live])
    func `a response to HEAD has no body, for errors too`(setup: TestingSetup) async throws {
        try await TestAPI.with(setup) { api in
            for path in ["/v1/events/1", "/v1/nothing"] {
                let answer = try await api.send(.head, path, headers: [:])
                #expect((answer.status, answer.bytes) == (404, []))
                #expect(answer.header("content-length") == "\(notFound.utf8.count)")
            }
            #expect(try await api.send(.head, "/v1/users", headers: [:]).header("allow") == "POST")
        }
    }
}

@Suite struct `The entity tag of a compressed event` {
    private static let gzip = ["accept-encoding": "gzip"]

    /// The event has more than 1 KiB, because its characters take four bytes each.
    private static func create(_ api: TestAPI) async throws -> String {
        "/v1/events/\(try await api.createEvent("owner", name: String(repeating: "🎉", count: 255)))"
    }

    @Test func `each coding of an event has a strong entity tag of its own`() async throws {
        try await TestAPI.with { api in
            let path = try await Self.create(api)
            #expect(try await api.send(.get, path, headers: [:]).header("etag")?.unmarked == #""1""#)
            for (coding, tag) in [("gzip", #""1-gzip""#), ("zstd", #""1-zstd""#)] {
                for method in [HTTPRequest.Method.get, .head] {
                    let answer = try await api.send(method, path, headers: ["accept-encoding": coding])
                    #expect((answer.header("etag")?.unmarked, answer.header("content-encoding")) == (tag, coding))
                }
            }
        }
    }

    @Test func `a client that holds the current tag in any coding gets 304`() async throws {
        let cases: [(condition: String, tag: String)] = [
            (#""1-gzip""#, #""1-gzip""#), (#"W/"1-gzip""#, #""1-gzip""#), (#""1""#, #""1""#), (#""7", "1-gzip""#, #""1-gzip""#),
            (#""1-gzip", "1""#, #""1""#), ("*", #""1""#),
        ]
        try await TestAPI.with { api in
            let path = try await Self.create(api)
            let current = try await api.tag(path)
            for (condition, tag) in cases {
                let condition = try condition.marked(as: current)
                let answer = try await api.send(.get, path, headers: Self.gzip.merging(["if-none-match": condition]) { $1 })
                #expect((answer.status, answer.body) == (304, ""), "\(condition)")
                #expect(answer.header("etag")?.unmarked == tag, "\(condition)")
                #expect(answer.header("vary") == "Accept-Encoding", "\(condition)")
                #expect(answer.header("content-encoding") == nil, "\(condition)")
            }
        }
    }

    @Test func `an outdated tag, or a tag of a coding that the client does not accept, gets the event`() async throws {
        try await TestAPI.with { api in
            let path = try await Self.create(api)
            let tag = try await api.tag(path)
            let plain = try await api.send(.get, path, headers: ["if-none-match": #""1-gzip""#.marked(as: tag)])
            #expect((plain.status, plain.header("etag")?.unmarked) == (200, #""1""#))
            for condition in try [#""2-gzip""#, #""1-br""#, #""1-""#, #""-gzip""#, #""01-gzip""#].map({ try $0.marked(as: tag) })
            {
                let answer = try await api.send(.get, path, headers: Self.gzip.merging(["if-none-match": condition]) { $1 })
                #expect(answer.status == 200, "\(condition)")
            }
        }
    }

    @Test func `the tag of any coding is a valid If-Match condition for a change`() async throws {
        try await TestAPI.with { api in
            let path = try await Self.create(api)
            for (condition, status) in [(#""2-gzip""#, 412), (#"W/"1-gzip""#, 412), (#""1-gzip""#, 200), (#""2-zstd""#, 200)] {
                let condition = try condition.marked(as: await api.tag(path))
                let answer = try await api.send(
                    .patch, path, token: "owner", type: mergePatch, #"{"name":"Tea"}"#, headers: ["if-match": condition])
                #expect(answer.status == status, "\(condition)")
            }
            let held = try #""3-gzip""#.marked(as: await api.tag(path))
            let refused = try await api.send(
                .patch, path, token: "owner", type: mergePatch, #"{"name":"Tea"}"#, headers: ["if-none-match": held])
            #expect(refused.status == 412)
        }
    }
}

/// The decompressed bytes of any format; `nil` for other bytes.
private func decompressed(_ bytes: [UInt8]) -> [UInt8]? {
    var output = [UInt8](repeating: 0, count: 1 << 20)
    if bytes.first == 0x28 {
        let count = ZSTD_decompress(&output, output.count, bytes, bytes.count)
        return ZSTD_isError(count) == 0 ? Array(output[..<count]) : nil
    }
    var stream = z_stream()
    // 32: gzip or zlib, whichever the first bytes name.
    guard inflateInit2_(&stream, MAX_WBITS + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else { return nil }
    defer { inflateEnd(&stream) }
    var input = bytes
    let result = input.withUnsafeMutableBufferPointer { input in
        output.withUnsafeMutableBufferPointer { output in
            (stream.next_in, stream.avail_in) = (input.baseAddress, UInt32(input.count))
            (stream.next_out, stream.avail_out) = (output.baseAddress, UInt32(output.count))
            return inflate(&stream, Z_FINISH)
        }
    }
    return result == Z_STREAM_END && stream.avail_in == 0 ? Array(output[..<Int(stream.total_out)]) : nil
}

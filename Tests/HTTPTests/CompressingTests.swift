import CZlib
import CZstd
import HTTPTypes
import Testing

/// `coding.http` shows entity tags, small and empty responses.
@Suite(.api()) struct `Compressing a response of 1 KiB or more` {
    @Test func `a large response has the coding that the client prefers, and the plain bytes without one`() async throws {
        let cases: [(accepted: String?, coding: String?)] = [
            ("gzip, deflate, br", "gzip"), ("gzip, deflate, br, zstd", "zstd"), ("zstd;q=0.5, gzip", "gzip"), (nil, nil),
            ("identity", nil),
        ]
        for _ in 0..<10 { _ = try await api.createEvent() }
        for path in ["/v1/openapi.json", "/v1/events/nearests?lat=37.76&lon=-122.43"] {
            let plain = try await api.send(.get, path, headers: [:])
            for (accepted, coding) in cases {
                let headers = accepted.map { ["accept-encoding": $0] } ?? [:]
                let answer = try await api.send(.get, path, headers: headers)
                #expect((answer.status, answer.header("content-encoding")) == (200, coding), "\(path) \(accepted ?? "-")")
                #expect(answer.header("vary") == "Accept-Encoding", "\(path) \(accepted ?? "-")")
                let told = try await api.send(.head, path, headers: headers)
                for sent in [answer, told] { #expect(sent.header("content-length") == "\(answer.bytes.count)") }
                #expect(told.bytes.isEmpty)
                guard let coding else {
                    #expect(answer.bytes == plain.bytes, "\(path) \(accepted ?? "-")")
                    continue
                }
                #expect(answer.bytes.count < plain.bytes.count / 3, "\(path) \(coding)")
                #expect(answer.bytes.first == ["gzip": 0x1F, "zstd": 0x28][coding], "\(path)")
                #expect(decompressed(answer.bytes) == plain.bytes, "\(path) \(coding)")
            }
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

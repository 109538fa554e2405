import Testing

@testable import HTTPServer

@Suite struct `Choosing the coding of a response` {
    @Test(
        arguments: [
            ("gzip", .gzip), ("zstd", .zstd), ("x-gzip", .gzip), ("*", .gzip), ("gzip, zstd", .zstd),
            ("deflate, gzip;q=0.9", .gzip), ("gzip;q=0.5, identity;q=0.5", .gzip), ("identity;q=0, *", .gzip),
            ("GZIP ; Q=0.2, identity;q=0.1", .gzip), ("br, gzip;q=0.001", .gzip), ("zstd;q=0.5, gzip", .gzip),
        ] as [(String, ContentCoding)])
    func `the coding with the highest weight is chosen, and of equal ones the fastest`(header: String, coding: ContentCoding) {
        #expect(AcceptedWeights(header).preferredCoding == coding)
    }

    @Test(
        arguments: [
            nil, "", "br", "deflate", "gzip;q=0", "identity", "gzip;q=0.5, identity", "*;q=0", "gzip;q=x", "gzip;q=2",
        ] as [String?])
    func `a client that accepts no coding or prefers plain bytes gets plain bytes`(header: String?) {
        #expect(AcceptedWeights(header).preferredCoding == nil)
    }

    @Test func `the first 64 members are read`() {
        #expect(AcceptedWeights(String(repeating: "br,", count: 63) + "gzip").preferredCoding == .gzip)
        #expect(AcceptedWeights(String(repeating: "br,", count: 64) + "gzip").preferredCoding == nil)
    }
}

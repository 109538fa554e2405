import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct `Reading If-None-Match` {
    private static func matches(_ header: String?) -> Bool {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
        head.headerFields[.ifNoneMatch] = header
        return Request(head: head).matchesIfNoneMatch(EntityTag(version: 7))
    }

    @Test(arguments: ["*", " * ", "\"7\"", "W/\"7\"", "\"6\", \"7\""]) func `a star and a list with the tag match`(header: String)
    {
        #expect(Self.matches(header))
    }

    @Test(arguments: [nil, "", "\"6\"", "7", "\"7"] as [String?]) func `a request without the tag does not match`(header: String?)
    {
        #expect(!Self.matches(header))
    }

    @Test func `the first 64 tags of a list are read`() {
        let others = (100..<163).map { "\"\($0)\"," }.joined()
        #expect(Self.matches(others + "\"7\",\"8\""))
        #expect(!Self.matches("\"6\"," + others + "\"7\",\"8\""))
        #expect(EntityTag.list(String(repeating: "\"7\",", count: 8_000), comparison: .weak).count == 64)
    }
}

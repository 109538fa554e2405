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
}

import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct `Reading If-None-Match` {
    private static func matches(_ header: String?) -> Bool {
        var head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/")
        head.headerFields[.ifNoneMatch] = header
        return Request(head: head).matchesIfNoneMatch(EntityTag(version: 7))
    }

    @Test func `a star and a list with the tag match, and no other request`() {
        for header in ["*", " * ", "\"7\"", "W/\"7\"", "\"6\", \"7\""] { #expect(Self.matches(header), "\(header)") }
        for header in [nil, "", "\"6\"", "7", "\"7"] { #expect(!Self.matches(header), "\(header ?? "none")") }
    }

    @Test func `the first 64 tags of a list are read`() {
        let others = (100..<163).map { "\"\($0)\"," }.joined()
        #expect(Self.matches(others + "\"7\",\"8\""))
        #expect(!Self.matches("\"6\"," + others + "\"7\",\"8\""))
        #expect(EntityTag.list(String(repeating: "\"7\",", count: 8_000), isWeak: true).count == 64)
    }
}

@Suite struct `The path of a request` {
    @Test(arguments: [
        ("/a/%31?q=%31", "/a/1?q=%31"), ("/%7e%41%2d", "/~A-"), ("/%2f%3F%25", "/%2f%3F%25"), ("/%", "/%"), ("/%3", "/%3"),
        ("/%zz%+1% 1", "/%zz%+1% 1"), ("/%2531", "/%2531"), ("/%c3%bc", "/%c3%bc"), ("*", "*"),
    ])
    func `escapes of unreserved characters are decoded, once, and no others`(sent: String, normal: String) {
        var request = Request(head: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: sent))
        request.normalizePath()
        #expect(request.target == normal)
    }
}

@Suite struct `An entity tag with a mark` {
    private static let tag = EntityTag(version: 5, mark: 0x0123_ABCF)

    @Test func `a tag reads back from its text, and a mark is eight letters from a to p`() {
        #expect(Self.tag.description == #""5.abcdklmp""#)
        for coding in [nil, .gzip, .zstd] as [ContentCoding?] {
            let tag = EntityTag(version: 5, mark: Self.tag.mark, coding: coding)
            #expect(EntityTag(tag.description) == tag)
        }
        for text in ["5.", "5.abcdklm", "5.abcdklmpa", "5.abcdklmq", "5.ABCDKLMP", ".abcdklmp", "5abcdklmp", "5.abcdklmp.a"] {
            #expect(EntityTag("\"\(text)\"") == nil, "\(text)")
        }
    }

    @Test func `another mark, or none, names another version`() {
        let (other, unmarked) = (EntityTag(version: 5, mark: 0), EntityTag(version: 5))
        #expect(Self.tag.isNamed(by: Self.tag))
        #expect(Self.tag.isNamed(by: EntityTag(version: 5, mark: Self.tag.mark, coding: .gzip)))
        #expect(!Self.tag.isNamed(by: other))
        #expect(!Self.tag.isNamed(by: EntityTag(version: 6, mark: Self.tag.mark)))
        #expect(!Self.tag.isNamed(by: unmarked))
        #expect(!unmarked.isNamed(by: Self.tag))
        #expect(unmarked.isNamed(by: unmarked))
    }
}

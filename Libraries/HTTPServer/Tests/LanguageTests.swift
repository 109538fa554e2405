import HTTPTypes
import Testing

@testable import HTTPServer

@Suite struct `The language that a client prefers` {
    private static func language(_ header: String?) -> String? {
        var headers = HTTPFields()
        headers[.acceptLanguage] = header
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/", headerFields: headers)
        return Request(head: head).preferredLanguage(of: ["en", "de", "pt-br"])
    }

    @Test(arguments: [
        ("de", "de"), ("DE-at", "de"), ("de-AT,de;q=0.9,en;q=0.5", "de"), ("en, de", "en"), ("de, en", "de"),
        ("de;q=0.4, en;q=0.5", "en"),
        ("fr, de;q=0.1", "de"), ("de;q=0, en;q=0.001", "en"), ("de ; Q=0.2, en ; q=0.1", "de"), ("pt-BR", "pt-br"), ("*", "en"),
        ("fr, *;q=0.5", "en"), ("en;q=0.5, *", "de"), ("en;q=0, *;q=0.1", "de"), (",,de,,", "de"),
        ("de;level=1;q=0.5, en;q=0.4", "de"),
    ])
    func `has the highest weight, and of equal ones it comes first`(header: String, language: String) {
        #expect(Self.language(header) == language)
    }

    @Test(
        arguments: [nil, "", "fr", "deu", "d", "pt", "-", "de;q=0", "de;q=x", "de;q=2", "*;q=0", ";q=1", "de=1"] as [String?])
    func `is none without a weight above 0`(header: String?) { #expect(Self.language(header) == nil) }

    @Test func `stands among the first 64 members`() {
        #expect(Self.language(String(repeating: "fr,", count: 63) + "de") == "de")
        #expect(Self.language(String(repeating: "fr,", count: 9_999) + "de") == nil)
    }
}

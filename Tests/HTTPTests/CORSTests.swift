import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `Cross-origin requests` {
    @Test(arguments: [
        ("https://App.Example.org", "https://app.example.org"), ("https://b.example.org:443", "https://b.example.org"),
        ("HTTP://b.example.org:080", "http://b.example.org"), ("http://[2001:DB8:0::1]:80", "http://[2001:db8::1]"),
    ])
    func `an origin of the setting is compared as an origin`(setting: String, sent: String) async throws {
        try await TestAPI.with(cors: try #require(CORSOrigins(setting))) { api async throws in
            func allowed(_ origin: String) async throws -> String? {
                try await api.send(.get, "/health", headers: ["origin": origin]).header("access-control-allow-origin")
            }
            // The value that the browser compares with its own text.
            let own = try await allowed(sent)
            #expect(own == sent)
            for other in ["null", sent + ":8443", sent.replacing("://", with: "://x."), "ftp" + sent.dropFirst(4)] {
                let foreign = try await allowed(other)
                #expect(foreign == nil, "\(other)")
            }
        }
    }

    @Test(arguments: [
        "", "app.example.org", "https://", "https://a/", "https://a, b", "**", "https://a,,https://b", "ftp://a",
        "null", "https://a:65536", "https://a:", "https://bücher.example", "https://user@a", "https://1.2.3", "https://0x7f.1",
        "https://a.0x", "https://[1.2.3.4]",
        "https://a..b",
    ])
    func `an unreadable list of origins is refused`(list: String) { #expect(CORSOrigins(list) == nil) }

    @Test func `a list of origins is read`() {
        #expect(
            CORSOrigins("https://a.org, http://localhost:3000")
                == .these([Origin("https://a.org")!, Origin("http://localhost:3000")!]))
    }
}

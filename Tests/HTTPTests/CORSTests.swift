import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `Cross-origin requests` {
    private static let page = "https://app.example.org"
    private static let preflight = [
        "origin": page, "access-control-request-method": "PATCH", "access-control-request-headers": "tb-device-token, if-match",
    ]

    @Test func `a page of an allowed origin gets the CORS fields in preflight and response`() async throws {
        try await TestAPI.with(cors: .these([Origin(Self.page)!])) { api in
            let before = try await api.send(.options, "/v1/events/1", headers: Self.preflight)
            #expect((before.status, before.body) == (204, ""))
            #expect(before.header("access-control-allow-origin") == Self.page)
            #expect(before.header("access-control-allow-methods") == "GET, HEAD, POST, PUT, PATCH, DELETE")
            let sent = try #require(before.header("access-control-allow-headers"))
            for name in [
                "tb-device-token", "x-app-secret", "authorization", "content-type", "idempotency-key", "if-match",
                "humon-position",
            ] {
                #expect(sent.split(separator: ", ").contains { $0.lowercased() == name }, "\(sent)")
            }
            #expect((before.header("vary"), before.header("access-control-max-age")) == ("Origin", "7200"))
            #expect(before.header("x-request-id") != nil)

            let answer = try await api.send(.get, "/v1/events/1", headers: ["origin": Self.page])
            #expect((answer.status, answer.header("access-control-allow-origin")) == (404, Self.page))
            let seen = try #require(answer.header("access-control-expose-headers")).lowercased()
            for name in ["etag", "humon-position", "link", "location", "retry-after", "x-request-id"] {
                #expect(seen.contains(name))
            }
            #expect(answer.header("access-control-allow-credentials") == nil)
        }
    }

    @Test func `a page of another origin gets no CORS fields`() async throws {
        let origins: [String?] = [
            nil, "https://evil.example.org", "null", "https://app.example.org.evil.org", "http://app.example.org",
        ]
        try await TestAPI.with(cors: .these([Origin(Self.page)!])) { api in
            for origin in origins {
                let headers = origin.map { ["origin": $0] } ?? [:]
                let answer = try await api.send(.get, "/v1/events/nearests?lat=1&lon=2", headers: headers)
                #expect((answer.status, answer.header("access-control-allow-origin")) == (200, nil), "\(origin ?? "no origin")")
                // Without Vary a proxy would give this response to a page of an allowed origin.
                #expect(answer.header("vary") == "Origin", "\(origin ?? "no origin")")
                var preflight = Self.preflight
                preflight["origin"] = origin
                #expect(
                    try await api.send(.options, "/v1/events/1", headers: preflight).status == 405, "\(origin ?? "no origin")")
            }
        }
    }

    @Test func `any origin is allowed if all are`() async throws {
        try await TestAPI.with(cors: .all) { api in
            let answer = try await api.send(.get, "/health", headers: ["origin": "https://any.where"])
            #expect((answer.header("access-control-allow-origin"), answer.header("vary")) == ("*", nil))
            #expect(
                try await api.send(.options, "/v1/users", headers: Self.preflight).header("access-control-allow-origin") == "*")
        }
    }

    @Test func `no origin is allowed by default`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.get, "/v1/events/nearests?lat=1&lon=2", headers: ["origin": Self.page])
            #expect((answer.header("access-control-allow-origin"), answer.header("vary")) == (nil, nil))
            #expect(try await api.send(.options, "/v1/events/1", headers: Self.preflight).status == 405)
        }
    }

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

@Suite struct `Caching responses` {
    @Test(arguments: [(API.Reads.everyone, "public, no-cache"), (.devices, "private, no-cache")])
    func `reads are revalidated before reuse, and are private if reads are for devices only`(reads: API.Reads, expected: String)
        async throws
    {
        try await TestAPI.with(reads: reads) { api in
            let event = try await api.createEvent("owner")
            let token = ["tb-device-token": "owner"]
            let read = try await api.send(.get, "/v1/events/\(event)", headers: token)
            #expect((read.status, read.header("cache-control")) == (200, expected))
            let tag = try #require(read.header("etag"))
            let again = try await api.send(.get, "/v1/events/\(event)", headers: token.merging(["if-none-match": tag]) { $1 })
            #expect((again.status, again.header("cache-control")) == (304, expected))
            for place in ["lat=37.76&lon=-122.43", "lat=0&lon=0"] {
                let near = try await api.send(.get, "/v1/events/nearests?\(place)", headers: token)
                #expect((near.status, near.header("cache-control")) == (200, expected))
            }
        }
    }

    @Test func `a list that PostgreSQL answers has no entity tag`() async throws {
        try await TestAPI.with(hasIndex: false) { api in
            _ = try await api.createEvent()
            let list = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43", headers: ["if-none-match": "\"2\""])
            #expect((list.status, list.header("etag")) == (200, nil))
        }
    }

    @Test func `every response forbids a browser to guess its type`() async throws {
        try await TestAPI.with { api in
            let event = try await api.createEvent()
            let answers = [
                try await api.signUp("phone"), try await api.send(.get, "/v1/events/\(event)"),
                try await api.send(.get, "/v1/events/99"), try await api.send(.get, "/v1/nothing"),
                try await api.send(.get, "/docs"), try await api.send(.post, "/v1/attendances", token: "phone", "{}"),
                try await api.ask("/health/live"), try await api.ask("/nothing"),
            ]
            #expect(answers.map(\.status) == [200, 200, 404, 404, 200, 422, 200, 404])
            for answer in answers {
                #expect(answer.headers[values: .xContentTypeOptions] == ["nosniff"])
            }
        }
    }
}

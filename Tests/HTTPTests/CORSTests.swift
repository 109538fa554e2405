import HTTPServer
import HTTPTypes
import Testing

@testable import HTTP

@Suite struct `A page in a browser` {
    private static let page = "https://app.example.org"
    private static let preflight = [
        "origin": page, "access-control-request-method": "PATCH", "access-control-request-headers": "tb-device-token, if-match",
    ]

    @Test func `of an origin that is allowed may ask, and sees what matters`() async throws {
        try await TestAPI.with(cors: .these([Self.page])) { api in
            let before = try await api.send(.options, "/v1/events/1", headers: Self.preflight)
            #expect((before.status, before.body) == (204, ""))
            #expect(before.header("access-control-allow-origin") == Self.page)
            #expect(before.header("access-control-allow-methods") == "GET, HEAD, POST, PUT, PATCH")
            let sent = try #require(before.header("access-control-allow-headers"))
            for name in ["tb-device-token", "x-app-secret", "content-type", "idempotency-key", "if-match", "humon-position"] {
                #expect(sent.split(separator: ", ").contains { $0.lowercased() == name }, "\(sent)")
            }
            #expect((before.header("vary"), before.header("access-control-max-age")) == ("Origin", "7200"))
            #expect(before.header("x-request-id") != nil)

            let answer = try await api.send(.get, "/v1/events/1", headers: ["origin": Self.page])
            #expect((answer.status, answer.header("access-control-allow-origin")) == (404, Self.page))
            let seen = try #require(answer.header("access-control-expose-headers")).lowercased()
            for name in ["etag", "humon-position", "link", "retry-after", "x-request-id", "ratelimit"] {
                #expect(seen.contains(name))
            }
            #expect(answer.header("access-control-allow-credentials") == nil)
        }
    }

    @Test(arguments: [nil, "https://evil.example.org", "null", "https://app.example.org.evil.org", "http://app.example.org"])
    func `of another origin is told nothing`(origin: String?) async throws {
        try await TestAPI.with(cors: .these([Self.page])) { api in
            let headers = origin.map { ["origin": $0] } ?? [:]
            let answer = try await api.send(.get, "/v1/events/nearests?lat=1&lon=2", headers: headers)
            #expect((answer.status, answer.header("access-control-allow-origin")) == (200, nil))
            // Or a proxy would give this answer to a page that may see it.
            #expect(answer.header("vary") == "Origin")
            var preflight = Self.preflight
            preflight["origin"] = origin
            #expect(try await api.send(.options, "/v1/events/1", headers: preflight).status == 405)
        }
    }

    @Test func `of any origin may ask where all may`() async throws {
        try await TestAPI.with(cors: .all) { api in
            let answer = try await api.send(.get, "/health", headers: ["origin": "https://any.where"])
            #expect((answer.header("access-control-allow-origin"), answer.header("vary")) == ("*", nil))
            #expect(
                try await api.send(.options, "/v1/users", headers: Self.preflight).header("access-control-allow-origin") == "*")
        }
    }

    @Test func `may not ask unless a setting says so`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.get, "/v1/events/nearests?lat=1&lon=2", headers: ["origin": Self.page])
            #expect((answer.header("access-control-allow-origin"), answer.header("vary")) == (nil, nil))
            #expect(try await api.send(.options, "/v1/events/1", headers: Self.preflight).status == 405)
        }
    }

    @Test(arguments: ["", "app.example.org", "https://", "https://a/", "https://a, b", "**", "https://a,,https://b", "ftp://a"])
    func `is of no origin that cannot be read`(list: String) { #expect(CORSOrigins(list) == nil) }

    @Test func `is of one of those that are listed`() {
        #expect(CORSOrigins("https://a.org, http://localhost:3000") == .these(["https://a.org", "http://localhost:3000"]))
    }
}

@Suite struct `Whoever keeps answers` {
    @Test(arguments: [(API.Reads.everyone, "public, no-cache"), (.devices, "private, no-cache")])
    func `is told which, and asks before they are used again`(reads: API.Reads, expected: String) async throws {
        try await TestAPI.with(reads: reads) { api in
            let event = try await api.createEvent("owner")
            let token = ["tb-device-token": "owner"]
            let read = try await api.send(.get, "/v1/events/\(event)", headers: token)
            #expect((read.status, read.header("cache-control")) == (200, expected))
            let again = try await api.send(
                .get, "/v1/events/\(event)", headers: token.merging(["if-none-match": "\"1\""]) { $1 })
            #expect((again.status, again.header("cache-control")) == (304, expected))
            for place in ["lat=37.76&lon=-122.43", "lat=0&lon=0"] {
                let near = try await api.send(.get, "/v1/events/nearests?\(place)", headers: token)
                #expect((near.status, near.header("cache-control")) == (200, expected))
            }
        }
    }

    @Test func `is told that a list is as it was, as long as nothing is recorded`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent()
            let path = "/v1/events/nearests?lat=37.76&lon=-122.43"
            let list = try await api.send(.get, path)
            #expect((list.status, list.header("etag")) == (200, "\"2\""))
            let again = try await api.send(.get, path, headers: ["if-none-match": "\"1\", W/\"2\""])
            #expect((again.status, again.body, again.header("etag"), again.header("humon-position")) == (304, "", "\"2\"", "2"))
            #expect(try await api.send(.get, "/v1/events/nearests", headers: ["if-none-match": "\"2\""]).status == 422)
            _ = try await api.createEvent(name: "Another")
            let changed = try await api.send(.get, path, headers: ["if-none-match": "\"2\""])
            #expect((changed.status, changed.header("etag")) == (200, "\"3\""))
        }
    }

    @Test func `is told no such thing where PostgreSQL is read`() async throws {
        try await TestAPI.with(hasIndex: false) { api in
            _ = try await api.createEvent()
            let list = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43", headers: ["if-none-match": "\"2\""])
            #expect((list.status, list.header("etag")) == (200, nil))
        }
    }

    @Test func `keeps no tokens, no refusals and nothing of the moment`() async throws {
        try await TestAPI.with { api in
            let answers = [
                try await api.signUp("phone"), try await api.send(.get, "/v1/events/99"), try await api.send(.get, "/health"),
                try await api.send(.get, "/v1/nothing"), try await api.send(.post, "/v1/attendances", token: "phone", "{}"),
            ]
            #expect(answers.map(\.status) == [200, 404, 200, 404, 422])
            #expect(answers.map { $0.header("cache-control") } == Array(repeating: "no-store", count: 5))
        }
    }
}

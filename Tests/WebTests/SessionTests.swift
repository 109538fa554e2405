import Encoding
import EventStore
import HTTPServer
import HTTPTypes
import TestDatabase
import Testing

@testable import Web

@Suite struct `A session of the map page` {
    /// A request that a foreign page, or no page, can make a browser send.
    struct Foreign: Sendable {
        var name: String
        var host = "localhost:8080"
        var headers: [String: String]
    }

    static let foreign = [
        Foreign(name: "another site", headers: ["sec-fetch-site": "cross-site", "origin": "https://evil.example"]),
        Foreign(name: "another port", headers: ["sec-fetch-site": "same-site", "origin": "http://localhost:9090"]),
        Foreign(name: "the address bar", headers: ["sec-fetch-site": "none"]),
        Foreign(
            name: "another origin, though it claims ours",
            headers: ["sec-fetch-site": "cross-site", "origin": "http://localhost:8080"]),
        Foreign(name: "an old browser on another port", headers: ["origin": "http://localhost:9090"]),
        Foreign(name: "an old browser on another site", headers: ["origin": "https://evil.example"]),
        Foreign(name: "an opaque origin", headers: ["origin": "null"]),
        Foreign(name: "a client that says nothing", headers: [:]),
        Foreign(
            name: "a name after DNS rebinding", host: "evil.example:8080", headers: ["sec-fetch-site": "same-origin"]),
        Foreign(
            name: "an old browser after DNS rebinding", host: "evil.example:8080",
            headers: ["origin": "http://evil.example:8080"]),
        Foreign(
            name: "a name that begins like ours", host: "localhost.evil.example",
            headers: ["sec-fetch-site": "same-origin"]),
    ]

    static let own: [[String: String]] = [ownPage, ["origin": "http://localhost:8080"]]

    @Test func `POST signs a new device up, and the cookie creates an event`() async throws {
        try await TestPage.with { page in
            for headers in Self.own {
                let session = await page.send(.post, "/session", headers)
                #expect(session.status == 200, "\(headers)")
                #expect(session.id != nil, "\(headers)")
                let created = await page.createEvent(cookie: session.cookie, headers)
                #expect(created.status == 200, "\(headers)")
                let event = try #require(created.id, "\(headers)")
                let shown = await page.send(.get, "/v1/events/\(event)")
                #expect(shown.body.contains(#""owner":{"id":\#(try #require(session.id))}"#), "\(headers)")
            }
        }
    }

    @Test func `POST from elsewhere gets 403 and signs nobody up, and the cookie does not count there`() async throws {
        try await TestPage.with { page in
            let cookie = await page.send(.post, "/session", ownPage).cookie
            for request in Self.foreign {
                let answer = await page.send(.post, "/session", host: request.host, request.headers)
                #expect((answer.status, answer.setCookie) == (403, nil), "\(request.name)")
                let written = await page.createEvent(host: request.host, cookie: cookie, request.headers)
                #expect(written.status == 401, "\(request.name)")
                let recorded = try await page.recorded()
                #expect(recorded == 1, "\(request.name)")
            }
        }
    }

    @Test func `POST of a client on another machine gets 403 at a loopback name, and signs nobody up`() async throws {
        try await TestPage.with { page in
            for headers in Self.own {
                let before = try await page.recorded()
                let direct = await page.send(.post, "/session", headers, from: "198.51.100.1")
                let proxied = await page.send(
                    .post, "/session", headers.merging(["x-forwarded-for": "198.51.100.1"]) { $1 })
                #expect([direct.status, proxied.status] == [403, 403], "\(headers)")
                #expect(direct.setCookie == nil && proxied.setCookie == nil, "\(headers)")
                let recorded = try await page.recorded()
                #expect(recorded == before, "\(headers)")
                // The cookie of a visitor on this machine does not count there.
                let cookie = await page.send(.post, "/session", headers).cookie
                let created = await page.send(
                    .post, "/v1/events", headers.merging(["cookie": cookie ?? ""]) { $1 }, body: "{}", from: "198.51.100.1")
                #expect(created.status == 401, "\(headers)")
            }
        }
    }

    @Test func `the cookie on plain HTTP is hidden from scripts and from other sites`() async throws {
        try await TestPage.with { page in
            let cookie = try #require(await page.send(.post, "/session", ownPage).setCookie)
            #expect(cookie.wholeMatch(of: /humon=[0-9a-f-]{36}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict/) != nil)
        }
    }

    @Test func `the cookie on https has the prefix Host and is secure`() async throws {
        try await TestPage.with { page in
            let session = await page.send(.post, "/session", ownPage, scheme: .https)
            let cookie = try #require(session.setCookie)
            #expect(cookie.hasPrefix("__Host-humon="))
            #expect(cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure"))
            #expect(await page.createEvent(cookie: session.cookie, ownPage, scheme: .https).status == 200)
        }
    }

    @Test func `a cookie of plain HTTP does not count on https`() async throws {
        try await TestPage.with { page in
            let cookie = await page.send(.post, "/session", ownPage).cookie
            #expect(await page.createEvent(cookie: cookie, ownPage, scheme: .https).status == 401)
        }
    }

    @Test func `two cookies of the name do not count`() async throws {
        try await TestPage.with { page in
            let cookie = try #require(await page.send(.post, "/session", ownPage).cookie)
            #expect(await page.createEvent(cookie: "humon=other; \(cookie)", ownPage).status == 401)
        }
    }

    @Test func `a token in a header takes precedence over the cookie`() async throws {
        try await TestPage.with { page in
            let cookie = await page.send(.post, "/session", ownPage).cookie
            let answer = await page.createEvent(cookie: cookie, ["sec-fetch-site": "same-origin", "x-device-token": "unknown"])
            #expect(answer.status == 401)
        }
    }

    @Test func `POST with the cookie of a known device answers the same user`() async throws {
        try await TestPage.with { page in
            let first = await page.send(.post, "/session", ownPage)
            let headers = ownPage.merging(["cookie": try #require(first.cookie)]) { $1 }
            let second = await page.send(.post, "/session", headers)
            #expect(second.id == first.id)
            #expect(second.setCookie == nil)
            #expect(try await page.recorded() == 1)
        }
    }

    @Test func `GET answers the user, and null without a cookie`() async throws {
        try await TestPage.with { page in
            let session = await page.send(.post, "/session", ownPage)
            #expect(await page.send(.get, "/session", ownPage).body == #"{"id":null}"#)
            let headers = ownPage.merging(["cookie": try #require(session.cookie)]) { $1 }
            #expect(await page.send(.get, "/session", headers).id == session.id)
        }
    }

    @Test func `GET removes the cookie of an unknown device`() async throws {
        try await TestPage.with { page in
            let answer = await page.send(.get, "/session", ownPage.merging(["cookie": "humon=unknown"]) { $1 })
            #expect(answer.body == #"{"id":null}"#)
            #expect(answer.setCookie?.hasPrefix("humon=; Max-Age=0") == true)
        }
    }

    @Test func `DELETE makes the browser forget the cookie`() async throws {
        try await TestPage.with { page in
            let answer = await page.send(.delete, "/session", ownPage)
            #expect(answer.status == 204)
            #expect(answer.setCookie == "humon=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")
            #expect(await page.send(.delete, "/session", ["sec-fetch-site": "cross-site"]).status == 403)
        }
    }

    @Test func `DELETE revokes the token of the session, also for the API, and a repetition changes nothing`() async throws {
        try await TestPage.with { page in
            let cookie = try #require(await page.send(.post, "/session", ownPage).cookie)
            let other = try #require(await page.send(.post, "/session", ownPage).cookie)
            let headers = ownPage.merging(["cookie": cookie]) { $1 }
            for _ in 0..<2 {
                let answer = await page.send(.delete, "/session", headers)
                #expect(answer.status == 204)
                #expect(answer.setCookie == "humon=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict")
                #expect(try await page.recorded() == 3)
            }
            #expect(await page.createEvent(cookie: cookie, ownPage).status == 401)
            #expect(await page.send(.get, "/session", headers).body == #"{"id":null}"#)
            #expect(await page.createEvent(cookie: other, ownPage).status == 200)
        }
    }

    @Test func `DELETE from elsewhere gets 403, and the token lives`() async throws {
        try await TestPage.with { page in
            let cookie = try #require(await page.send(.post, "/session", ownPage).cookie)
            let answer = await page.send(.delete, "/session", ["sec-fetch-site": "cross-site", "cookie": cookie])
            #expect(answer.status == 403)
            #expect(await page.createEvent(cookie: cookie, ownPage).status == 200)
        }
    }

    @Test func `an address that is at its limit gets 429`() async throws {
        try await TestPage.with(MapPage.Settings(sessionsPerMinute: 2)) { page in
            for _ in 0..<2 { #expect(await page.send(.post, "/session", ownPage).status == 200) }
            let refused = await page.send(.post, "/session", ownPage)
            #expect(refused.status == 429)
            #expect(refused.headers[.retryAfter] != nil)
            let recorded = try await page.recorded()
            #expect(recorded == 2)
        }
    }

    @Test func `the limit of all addresses together gives 429`() async throws {
        try await TestPage.with(MapPage.Settings(allSessionsPerMinute: 1)) { page in
            #expect(await page.send(.post, "/session", ownPage).status == 200)
            #expect(await page.send(.post, "/session", ownPage).status == 429)
        }
    }

    @Test func `the log holds no token of a session`() async throws {
        try await TestPage.with { page in
            let cookie = try #require(await page.send(.post, "/session", ownPage).cookie)
            let token = try #require(cookie.split(separator: "=").last)
            let recorded = try #require(try await page.log.read(after: 0, limit: 10).first)
            #expect(!recorded.json.text.contains(token))
        }
    }

    @Test func `a page of a listed origin has sessions at that name, and loopback has none`() async throws {
        let origins = try #require(WebOrigins("https://map.example.org"))
        try await TestPage.with(MapPage.Settings(origins: origins)) { page in
            #expect(await page.send(.post, "/session", host: "map.example.org", ownPage, scheme: .https).status == 200)
            let old = ["origin": "https://map.example.org"]
            #expect(await page.send(.post, "/session", host: "map.example.org", old, scheme: .https).status == 200)
            #expect(await page.send(.post, "/session", ownPage).status == 403)
        }
    }
}

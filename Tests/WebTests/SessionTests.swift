import Encoding
import EventStore
import HTTPTypes
import Synchronization
import TestDatabase
import Testing

@testable import HTTPServer
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

    @Test func `only a request of the page itself, at a loopback name and from this machine, may use a session`() {
        func isFromPage(_ host: String, _ headers: [String: String], from address: String = "127.0.0.1") -> Bool {
            var fields = HTTPFields()
            for (name, value) in headers {
                if let name = HTTPField.Name(name) { fields[name] = value }
            }
            let head = HTTPRequest(method: .post, scheme: "http", authority: host, path: "/session", headerFields: fields)
            let (request, peer) = (Request(head: head), NetworkAddress(address))
            return WebOrigins.loopback.isFromPage(request, RequestContext(request, from: ConnectionInfo(peer, .http)))
        }
        for headers in Self.own {
            #expect(isFromPage("localhost:8080", headers), "\(headers)")
            #expect(!isFromPage("localhost:8080", headers, from: "198.51.100.1"), "\(headers)")
            let proxied = headers.merging(["x-forwarded-for": "198.51.100.1"]) { $1 }
            #expect(!isFromPage("localhost:8080", proxied), "\(headers)")
        }
        for request in Self.foreign { #expect(!isFromPage(request.host, request.headers), "\(request.name)") }
    }

    @Test(.page) func `POST signs a new device up, and the cookie creates an event and answers the same user again`() async throws
    {
        for headers in Self.own {
            let session = await page.send(.post, "/session", headers)
            #expect(session.status == 200, "\(headers)")
            let id = try #require(session.id, "\(headers)")
            let created = await page.createEvent(cookie: session.cookie, headers)
            #expect(created.status == 200, "\(headers)")
            let stream = StreamName("event-\(try #require(created.id))")
            let creation = try #require(try await page.log.read(stream: stream).first)
            #expect(creation.json.text.contains(#""owner":\#(id)"#), "\(headers)")
            let before = try await page.recorded()
            let known = headers.merging(["cookie": try #require(session.cookie)]) { $1 }
            let again = await page.send(.post, "/session", known)
            #expect((again.id, again.setCookie) == (id, nil), "\(headers)")
            #expect(await page.send(.get, "/session", known).id == id, "\(headers)")
            #expect(try await page.recorded() == before, "\(headers)")
            let token = try #require(session.cookie?.split(whereSeparator: "=.".contains)[1])
            for recorded in try await page.log.read(after: 0, limit: 10) { #expect(!recorded.json.text.contains(token)) }
        }
    }

    @Test(.page)
    func `a request from elsewhere gets 403 and signs nobody up, the cookie does not count there, and the token lives`()
        async throws
    {
        let cookie = await page.send(.post, "/session", ownPage).cookie
        let elsewhere = ["sec-fetch-site": "cross-site", "cookie": cookie ?? ""]
        let answer = await page.send(.post, "/session", elsewhere)
        #expect((answer.status, answer.setCookie) == (403, nil))
        #expect(await page.createEvent(cookie: cookie, elsewhere).status == 401)
        let remote = await page.send(.post, "/session", ownPage, from: "198.51.100.1")
        #expect((remote.status, remote.setCookie) == (403, nil))
        let own = ownPage.merging(["cookie": cookie ?? ""]) { $1 }
        #expect(await page.send(.post, "/v1/events", own, body: "{}", from: "198.51.100.1").status == 401)
        #expect(await page.send(.delete, "/session", elsewhere).status == 403)
        #expect(try await page.recorded() == 1)
        #expect(await page.createEvent(cookie: cookie, ownPage).status == 200)
    }

    @Test(.page)
    func `the cookie is hidden from scripts and other sites, secure on https, and does not count on the other scheme`()
        async throws
    {
        let plain = await page.send(.post, "/session", ownPage)
        let cookie = try #require(plain.setCookie)
        let begun = /humon=[0-9a-f-]{36}\.[0-9]{5}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict/
        #expect(cookie.wholeMatch(of: begun) != nil)
        #expect(await page.createEvent(cookie: plain.cookie, ownPage, scheme: .https).status == 401)
        let session = await page.send(.post, "/session", ownPage, scheme: .https)
        let secure = try #require(session.setCookie)
        #expect(secure.hasPrefix("__Host-humon="))
        #expect(secure.hasSuffix("; Path=/; HttpOnly; SameSite=Strict; Secure"))
        #expect(await page.createEvent(cookie: session.cookie, ownPage, scheme: .https).status == 200)
    }

    @Test(.page)
    func `two cookies of the name do not count, and a token in a header takes precedence over the cookie`() async throws {
        let cookie = try #require(await page.send(.post, "/session", ownPage).cookie)
        #expect(await page.createEvent(cookie: "humon=other; \(cookie)", ownPage).status == 401)
        let unknown = ["sec-fetch-site": "same-origin", "x-device-token": "unknown"]
        #expect(await page.createEvent(cookie: cookie, unknown).status == 401)
    }

    @Test(.page)
    func `without a known device GET answers null and removes the cookie, and DELETE makes the browser forget it`() async throws {
        #expect(await page.send(.get, "/session", ownPage).body == #"{"id":null}"#)
        let answer = await page.send(.get, "/session", ownPage.merging(["cookie": "humon=unknown"]) { $1 })
        #expect(answer.body == #"{"id":null}"#)
        #expect(answer.setCookie?.hasPrefix("humon=; Max-Age=0") == true)
        let ended = await page.send(.delete, "/session", ownPage)
        #expect((ended.status, ended.setCookie) == (204, "humon=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict"))
    }

    @Test(.page) func `DELETE revokes the token of the session, also for the API, and a repetition changes nothing`() async throws
    {
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

    @Test func `an address at its limit, and all addresses at theirs, get 429`() async throws {
        for (limit, allowed) in [(\MapPage.Settings.sessionsPerMinute, 2), (\MapPage.Settings.allSessionsPerMinute, 1)] {
            var settings = MapPage.Settings()
            settings[keyPath: limit] = allowed
            try await TestPage.with(settings) { page in
                for _ in 0..<allowed { #expect(await page.send(.post, "/session", ownPage).status == 200) }
                let refused = await page.send(.post, "/session", ownPage)
                #expect(refused.status == 429 && refused.headers[.retryAfter] != nil)
                let recorded = try await page.recorded()
                #expect(recorded == allowed)
            }
        }
    }

    @Test func `a page of a listed origin has sessions at that name, and loopback has none`() async throws {
        var settings = MapPage.Settings()
        settings.origins = try #require(WebOrigins("https://map.example.org"))
        try await TestPage.with(settings) { page in
            #expect(await page.send(.post, "/session", host: "map.example.org", ownPage, scheme: .https).status == 200)
            let old = ["origin": "https://map.example.org"]
            #expect(await page.send(.post, "/session", host: "map.example.org", old, scheme: .https).status == 200)
            #expect(await page.send(.post, "/session", ownPage).status == 403)
        }
    }

    @Test func `the cookie is renewed when it is older than a week, has no day or one of the future, and its token stays`()
        async throws
    {
        let today = Mutex(Int64(20_000))
        var settings = MapPage.Settings()
        settings.now = { Timestamp(milliseconds: today.withLock { $0 } * 86_400_000 + 43_200_000) }
        try await TestPage.with(settings) { page in
            let signedUp = await page.send(.post, "/session", ownPage)
            var cookie = try #require(signedUp.cookie)
            let token = try #require(cookie.split(separator: ".").first)
            #expect(cookie == "\(token).20000")
            let days: [(Int64, isOld: Bool)] = [
                (20_000, false), (20_007, false), (20_008, true), (20_300, true), (20_699, true), (20_690, true), (20_000, true),
            ]
            for (day, isOld) in days {
                today.withLock { $0 = day }
                let answer = await page.send(.get, "/session", ownPage.merging(["cookie": cookie]) { $1 })
                #expect(answer.id == signedUp.id, "day \(day)")
                #expect(answer.cookie == (isOld ? "\(token).\(day)" : nil), "day \(day)")
                if let renewed = answer.setCookie { #expect(renewed.contains("; Max-Age=34560000; ")) }
                cookie = answer.cookie ?? cookie
            }
            for other in ["\(token)", "\(token).x", "\(token).99999999999"] {
                let answer = await page.send(.get, "/session", ownPage.merging(["cookie": other]) { $1 })
                #expect((answer.id, answer.cookie) == (signedUp.id, "\(token).20000"), "\(other)")
            }
            let again = await page.send(.post, "/session", ownPage.merging(["cookie": "\(token)"]) { $1 })
            #expect((again.id, again.cookie) == (signedUp.id, "\(token).20000"))
            #expect(await page.createEvent(cookie: cookie, ownPage).status == 200)
        }
    }
}

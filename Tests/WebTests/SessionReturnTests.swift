import Encoding
import EventStore
import HTTP
import HTTPTypes
import TestDatabase
import Testing

@testable import HTTPServer
@testable import Web

@Suite(.page) struct `A return on the map page` {
    private static let nonce = String(repeating: "5eed", count: 8)

    /// What the page of a browser with a cookie sends.
    private static func own(_ cookie: String?) -> [String: String] {
        var headers = ownPage
        headers["content-type"] = "application/json"
        headers["cookie"] = cookie
        return headers
    }

    /// A browser that has just signed up.
    private static func signUp() async throws -> (user: Int64, cookie: String) {
        let answer = await page.send(.post, "/session", ownPage)
        return (try #require(answer.id), try #require(answer.cookie))
    }

    private static func issue(_ kind: String, _ cookie: String) async throws -> String {
        let answer = await page.send(.post, "/v1/users/me/passes", own(cookie), body: #"{"kind":"\#(kind)"}"#)
        return try #require(try JSON(utf8: answer.body.utf8)["pass"]?.string)
    }

    /// - Parameter user: whom the visitor agreed to become; `nil` to ask who that would be
    private static func body(_ pass: String, _ user: Int64?, _ nonce: String = Self.nonce) -> String {
        #"{"pass":"\#(pass)","nonce":"\#(nonce)"\#(user.map { #","user":\#($0)"# } ?? "")}"#
    }

    private static func comeBack(
        _ pass: String, _ user: Int64? = nil, cookie: String? = nil, nonce: String = Self.nonce
    ) async -> TestPage.Answer {
        await page.send(.post, "/session/return", own(cookie), body: body(pass, user, nonce))
    }

    private static func isAlive(_ cookie: String?) async -> Bool { await page.createEvent(cookie: cookie, ownPage).status == 200 }

    @Test func `the first request tells whose the pass is and whom the browser leaves, and the agreed one brings the cookie`()
        async throws
    {
        let (gone, here) = (try await Self.signUp(), try await Self.signUp())
        let (code, kept) = (try await Self.issue("transfer", gone.cookie), try await Self.issue("recovery", here.cookie))
        let before = try await page.recorded()
        let asked = await Self.comeBack(code, cookie: here.cookie)
        #expect((asked.status, asked.setCookie) == (200, nil))
        #expect(asked.body == #"{"id":\#(gone.user),"leaves":\#(here.user)}"#)
        #expect(await Self.comeBack(code).body == #"{"id":\#(gone.user),"leaves":null}"#)
        #expect(await Self.comeBack(code, here.user, cookie: here.cookie).status == 404)
        #expect(try await page.recorded() == before)

        let back = await Self.comeBack(code, gone.user, cookie: here.cookie)
        #expect((back.status, back.id) == (200, gone.user))
        #expect(back.headers[.cacheControl] == "no-store" && back.headers[.init(literal: "humon-position")] != nil)
        let cookie = /humon=[0-9a-f-]{36}\.[0-9]{5}; Max-Age=34560000; Path=\/; HttpOnly; SameSite=Strict/
        #expect(try #require(back.setCookie).wholeMatch(of: cookie) != nil)
        #expect(await Self.isAlive(back.cookie))
        for dead in [gone.cookie, here.cookie] { #expect(await !Self.isAlive(dead)) }

        // The user whom the browser left comes back by a link of its own.
        let again = await Self.comeBack(kept, here.user, cookie: back.cookie)
        #expect(again.id == here.user)
        #expect(await Self.isAlive(again.cookie))
        let token = try #require(back.cookie?.split(whereSeparator: "=.".contains)[1])
        for recorded in try await page.log.read(after: 0, limit: 100) {
            for secret in [code, kept, String(token), Self.nonce] { #expect(!recorded.json.text.contains(secret)) }
        }
    }

    @Test func `the same request again gets the same cookie, with that cookie too, and another nonce is refused`() async throws {
        let gone = try await Self.signUp()
        let code = try await Self.issue("transfer", gone.cookie)
        let first = await Self.comeBack(code, gone.user)
        #expect(first.cookie != nil)
        let before = try await page.recorded()
        for cookie in [nil, gone.cookie, first.cookie] {
            let again = await Self.comeBack(code.lowercased(), gone.user, cookie: cookie)
            #expect((again.id, again.cookie) == (gone.user, first.cookie))
        }
        #expect(await Self.comeBack(code).id == gone.user)
        #expect(await Self.comeBack(code, gone.user, nonce: String(Self.nonce.reversed())).status == 404)
        #expect(try await page.recorded() == before)
        #expect(await Self.isAlive(first.cookie))
    }

    @Test func `a request from elsewhere gets 403, and whatever is wrong with one of the page gets 404, and the pass stays`()
        async throws
    {
        let gone = try await Self.signUp()
        let code = try await Self.issue("transfer", gone.cookie)
        let before = try await page.recorded()
        let body = Self.body(code, gone.user)
        for foreign in `A session of the map page`.foreign {
            let answer = await page.send(.post, "/session/return", host: foreign.host, foreign.headers, body: body)
            #expect((answer.status, answer.setCookie) == (403, nil), "\(foreign.name)")
        }
        #expect(await page.send(.post, "/session/return", ownPage, body: body, from: "198.51.100.1").status == 403)
        for wrong in [
            "", "[]", #"{"pass":7,"nonce":"\#(Self.nonce)"}"#, #"{"pass":"\#(code)"}"#, Self.body(code, gone.user, "5eed"),
            Self.body(code, gone.user, Self.nonce.uppercased()), Self.body(String(repeating: code, count: 26), gone.user),
            Self.body("0000000000", gone.user),
        ] {
            let answer = await page.send(.post, "/session/return", Self.own(nil), body: wrong)
            #expect((answer.status, answer.setCookie) == (404, nil), "\(wrong)")
        }
        #expect(try await page.recorded() == before)
        #expect(await Self.comeBack(code, gone.user).status == 200)
    }

    @Test func `an address has ten attempts a minute, on the page and in the API together`() async throws {
        for _ in 1..<SharedLimits.returnsPerMinute { #expect(await Self.comeBack("0000000000").status == 404) }
        let app = ["tb-app-secret": "secret", "content-type": "application/json"]
        let body = #"{"pass":"0000000000","device_token":"a token of seventeen"}"#
        #expect(await page.send(.post, "/v1/users/return", app, body: body).status == 404)
        let refused = await Self.comeBack("0000000000")
        #expect(refused.status == 429 && refused.headers[.retryAfter] != nil)
        #expect(await page.send(.post, "/v1/users/return", app, body: body).status == 429)
    }

    @Test func `a browser whose user moved is told so, signs nobody up, and is a new user with the next sign-up`() async throws {
        let gone = try await Self.signUp()
        let back = await Self.comeBack(try await Self.issue("transfer", gone.cookie), gone.user)
        let before = try await page.recorded()
        for method in [HTTPRequest.Method.get, .post] {
            let answer = await page.send(method, "/session", Self.own(gone.cookie))
            #expect(answer.body == #"{"id":null,"moved":\#(gone.user)}"#)
            #expect(answer.setCookie?.hasPrefix("humon=; Max-Age=0") == true)
        }
        #expect(try await page.recorded() == before)
        #expect(try await Self.signUp().user != gone.user)
        // A thief may forget the user at once.
        #expect(await page.send(.delete, "/session", Self.own(back.cookie)).status == 204)
        #expect(await page.send(.get, "/session", Self.own(gone.cookie)).body == #"{"id":null,"moved":\#(gone.user)}"#)
        #expect(await page.send(.get, "/session", Self.own(back.cookie)).body == #"{"id":null}"#)
    }

    @Test func `the page of a link is the page at the usual address, with the same headers, and sets no cookie`() async throws {
        let (usual, back) = (await page.send(.get, "/"), await page.send(.get, "/back"))
        #expect((back.status, back.setCookie) == (200, nil))
        #expect(back.body == usual.body && back.body.contains(#"<dialog id="way""#))
        for name in ["content-security-policy", "cache-control", "etag", "referrer-policy", "x-frame-options"] {
            let name = try #require(HTTPField.Name(name))
            #expect(back.headers[name] != nil && back.headers[name] == usual.headers[name], "\(name)")
        }
        #expect(back.headers[.cacheControl] == "no-cache" && back.headers[.init(literal: "referrer-policy")] == "no-referrer")
    }
}

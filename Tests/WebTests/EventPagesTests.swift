import Encoding
import Foundation
import NIOHTTP1
import TestDatabase
import TestFixture
import TestServer
import Testing

@testable import Web

extension Trait where Self == Fixture<ServedPages> {
    /// A server whose pages have a name, and a user: ``pages``.
    static func pages(_ environment: [String: String] = [:]) -> Self {
        Self { body in
            let own = ["HUMON_WEB_ORIGINS": "https://map.example.org,https://old.example.org"].merging(environment) { $1 }
            try await HumonProcess.withServer(environment: own) { _, port, database in
                let address = "http://127.0.0.1:\(port)"
                let user = try await exchange("POST", "\(address)/v1/users", headers: [("tb-app-secret", HumonProcess.secret)])
                let token = try #require(try JSON(utf8: user.body.utf8)["device_token"]?.string)
                try await body(ServedPages(address: address, token: token, database: database))
            }
        }
    }
}

private var pages: ServedPages { Fixture.current }

struct ServedPages: Sendable {
    typealias Answer = (status: Int, headers: HTTPHeaders, body: String)

    let address: String
    let token: String
    let database: TestDatabase

    /// A time in a feed, which reaches a year ahead.
    static var tomorrow: String { Date(timeIntervalSinceNow: 86_400).formatted(.iso8601) }

    /// - Parameter more: members besides the required ones, each with a comma before it
    func create(_ name: String, at start: String = "2037-07-01T18:00:00Z", _ more: String = "") async throws -> Int {
        let body = #"{"name":\#(JSON.string(name).text),"lat":52.525,"lon":13.405,"started_at":"\#(start)"\#(more)}"#
        return try #require(try JSON(utf8: try await send("POST", "/v1/events", body).body.utf8)["id"]?.integer)
    }

    func send(_ method: String, _ path: String, _ body: String) async throws -> Answer {
        let type = method == "PATCH" ? "application/merge-patch+json" : "application/json"
        return try await exchange(
            method, address + path, headers: [("tb-device-token", token), ("content-type", type)], body: body)
    }

    func get(_ path: String, _ headers: [(String, String)] = []) async throws -> Answer {
        try await exchange("GET", address + path, headers: headers)
    }
}

/// What a page says to machines.
private func data(_ page: String) throws -> JSON {
    let block = try #require(page.firstMatch(of: /<script type="application\/ld\+json">(.*?)<\/script>/)?.1)
    return try JSON(utf8: Array(block.utf8))
}

private func property(_ name: String, _ page: String) -> String? {
    page.split(separator: "<meta property=\"\(name)\" content=\"").dropFirst().first?.split(separator: "\">").first.map(
        String.init)
}

@Suite struct `The page of an event` {
    @Test(.pages()) func `has all that the event has, in the time of its place, for people and for machines`() async throws {
        let more =
            #","address":"Haus der Kulturen","ended_at":"2037-07-01T20:30:00Z","category":"music","time_zone":"Asia/Tokyo","#
            + #""description":"Bring a friend\nand a chair","link":"https://xn--caf-dma.example/a?b=c&d""#
        let id = try await pages.create("Jazz & more", more)
        let answer = try await pages.get("/events/\(id)")
        #expect(answer.status == 200 && answer.headers["content-type"] == ["text/html; charset=utf-8"])
        #expect(answer.headers["cache-control"] == ["public, no-cache"])
        let page = answer.body
        #expect(page.contains("<title>Jazz &amp; more</title>") && page.contains(#"<h1 dir="auto">Jazz &amp; more</h1>"#))
        #expect(page.contains(#"<time datetime="2037-07-02T03:00:00+09:00">Thursday, 2 July 2037"#))
        #expect(page.contains("Time zone: Asia/Tokyo") && page.contains("Haus der Kulturen") && page.contains("<dd>Music</dd>"))
        #expect(page.contains("Bring a friend\nand a chair"))
        #expect(
            page.contains(
                #"<a href="https://xn--caf-dma.example/a?b=c&amp;d" rel="nofollow ugc noopener noreferrer">https://xn--caf-dma"#))
        #expect(page.contains(#"href="/v1/events/\#(id).ics""#) && page.contains(#"href="geo:52.52500,13.40500""#))
        #expect(page.contains(##"href="/#map=15/52.52500/13.40500&amp;event=\##(id)""##))

        let event = try data(page)
        let own = "https://map.example.org/events/\(id)"
        #expect(event["name"] == "Jazz & more" && event["url"] == .string(own))
        #expect(event["startDate"] == "2037-07-02T03:00:00+09:00" && event["endDate"] == "2037-07-02T05:30:00+09:00")
        #expect(event["description"] == "Bring a friend\nand a chair")
        #expect(event["eventStatus"] == "https://schema.org/EventScheduled")
        #expect(event["location"]?["address"] == "Haus der Kulturen")
        #expect(event["location"]?["geo"]?["latitude"] == JSON(52.525))
        #expect(property("og:title", page) == "Jazz &amp; more" && property("og:url", page) == own)
        #expect(page.contains(#"<link rel="canonical" href="\#(own)">"#))
    }

    @Test(.pages()) func `takes its own address from the settings alone`() async throws {
        let id = try await pages.create("Jazz", at: ServedPages.tomorrow)
        for path in [
            "/events/\(id)", "/v1/events/\(id).ics", "/v1/events.ics?bbox=-180,-90,180,90", "/embed?bbox=-180,-90,180,90",
        ] {
            let plain = try await pages.get(path)
            let forged = try await pages.get(
                path,
                [
                    ("x-forwarded-host", "evil.example"), ("x-forwarded-proto", "gopher"), ("forwarded", "host=evil.example"),
                    ("x-original-url", "/evil"), ("origin", "https://evil.example"),
                ])
            #expect(plain.status == 200 && plain.body == forged.body && !plain.body.contains("evil"), "\(path)")
            let port = try #require(pages.address.split(separator: ":").last.flatMap { Int($0) })
            for target in [path, "http://evil.example\(path)"] {
                let connection = try RawConnection(port: port)
                try connection.send("GET \(target) HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n")
                let received = try await connection.receive().text
                #expect(received.hasPrefix("HTTP/1.1 200") && received.hasSuffix(plain.body), "\(target)")
            }
        }
        let calendar = try await pages.get("/v1/events.ics?bbox=-180,-90,180,90").body.replacing("\r\n ", with: "")
        #expect(calendar.contains("\r\nURL:https://map.example.org/events/\(id)\r\n"))
        #expect(
            calendar.contains("\r\nSOURCE;VALUE=URI:https://map.example.org/v1/events.ics?bbox=-180,-90,180,90\r\n"))
    }

    @Test(.pages(["HUMON_WEB_ORIGINS": "loopback"])) func `does not name its address if nobody told it`() async throws {
        let id = try await pages.create("Jazz")
        let page = try await pages.get("/events/\(id)").body
        #expect(!page.contains("canonical") && !page.contains("og:url") && !page.contains("127.0.0.1"))
        #expect(try data(page)["url"] == nil)
    }

    @Test(.pages()) func `follows its event, and answers 304 until then`() async throws {
        let id = try await pages.create("Jazz", #","description":"First""#)
        let first = try await pages.get("/events/\(id)")
        let tag = try #require(first.headers["etag"].first)
        #expect(try await pages.get("/events/\(id)", [("if-none-match", tag)]).status == 304)
        let german = try await pages.get("/events/\(id)", [("if-none-match", tag), ("accept-language", "de")])
        #expect(german.status == 200 && german.body.contains("In den Kalender") && german.headers["etag"] != [tag])
        #expect(first.headers["vary"].joined().contains("Accept-Language") && german.headers["content-language"] == ["de"])

        #expect(try await pages.send("PATCH", "/v1/events/\(id)", #"{"description":"Second"}"#).status == 200)
        let second = try await pages.get("/events/\(id)", [("if-none-match", tag)])
        #expect(second.status == 200 && second.body.contains("Second") && !second.body.contains("First"))

        #expect(try await pages.send("DELETE", "/v1/events/\(id)", "").status == 200)
        let gone = try await pages.get("/events/\(id)")
        #expect(gone.status == 200 && gone.body.contains("<title>Cancelled: Jazz</title>"))
        #expect(gone.body.contains(#"<meta name="robots" content="noindex">"#) && !gone.body.contains("Second"))
        #expect(try data(gone.body)["eventStatus"] == "https://schema.org/EventCancelled")
        _ = try await HumonProcess.run(["events", "hide", "\(id)", "--reason", "Spam"], on: pages.database)
        try await eventually("the hidden event has no page") { try await pages.get("/events/\(id)").status == 404 }
    }

    @Test(.pages()) func `goes with its owner, who is erased`() async throws {
        let id = try await pages.create("Jazz", at: ServedPages.tomorrow)
        let gone = try await pages.create("Blues")
        #expect(try await pages.send("DELETE", "/v1/events/\(gone)", "").status == 200)
        #expect(try await pages.get("/embed?bbox=-180,-90,180,90").body.contains("Jazz"))
        let erasure = try await pages.send("DELETE", "/v1/users/me", "")
        #expect([200, 202].contains(erasure.status))
        for path in ["/events/\(id)", "/events/\(gone)", "/v1/events/\(id).ics"] {
            try await eventually("\(path) is not there") { try await pages.get(path).status == 404 }
        }
        let rest = try await pages.get("/embed?bbox=-180,-90,180,90").body
        #expect(!rest.contains("Jazz") && rest.contains("No event comes here soon."))
    }

    @Test(.pages()) func `is a page too where there is no event`() async throws {
        for path in ["/events/1", "/events/0", "/events/x", "/events/99999999999999999999", "/events/1/2", "/evnets/1"] {
            let answer = try await pages.get(path, [("accept", "text/html,*/*;q=0.8")])
            #expect(answer.status == 404 && answer.headers["content-type"] == ["text/html; charset=utf-8"], "\(path)")
            #expect(answer.body.contains("<h1>This page is not there</h1>"), "\(path)")
            #expect(answer.headers["content-security-policy"].first?.contains("default-src 'none'") == true, "\(path)")
            #expect(answer.headers["cache-control"] == ["no-store"], "\(path)")
        }
        // The API's clients get what they always got.
        #expect(try await pages.get("/evnets/1").body == #"{"message":"Not Found"}"#)
        #expect(try await pages.get("/v1/evnets", [("accept", "text/html")]).body == #"{"message":"Not Found"}"#)
    }

    @Test(.pages(["HUMON_READS": "devices"])) func `is not there if only devices may read`() async throws {
        let id = try await pages.create("Secret jazz")
        for path in ["/events/\(id)", "/embed?bbox=-180,-90,180,90"] {
            let answer = try await pages.get(path, [("accept", "text/html")])
            #expect(answer.status == 404 && !answer.body.contains("jazz"), "\(path)")
        }
        #expect(try await pages.get("/robots.txt").body == "User-agent: *\nDisallow: /session\n")
    }

    @Test(.pages()) func `shows hostile texts as texts`() async throws {
        // Marks join the signs beside them to larger characters, which no comparison of characters finds.
        let hostile =
            #"</script><script>alert(1)</script><img src=x onerror=alert(2)>"' & {{assets}} \u202e\u0600<i>\u0600</script>x"\u0301 "#
            + #"http-equiv=refresh <\u200d"#
        let text = "\"\(hostile.replacing("\"", with: "\\\""))\""
        let id = try await pages.create(
            "Jazz", at: ServedPages.tomorrow, #","address":\#(text),"description":\#(text.replacing(#"\u202e"#, with: ""))"#)
        #expect(try await pages.send("PATCH", "/v1/events/\(id)", #"{"name":\#(text)}"#).status == 200)
        let harmless = try await pages.create("Jazz", at: ServedPages.tomorrow, #","address":"A","description":"B""#)
        for path in ["/events/\(id)", "/embed?lat=52.525&lon=13.405"] {
            let page = try await pages.get(path).body
            #expect(page.contains("&lt;img src=x onerror=alert(2)&gt;&quot;' &amp; {{assets}} "), "\(path)")
            #expect(!page.contains("\u{202E}"), "\(path)")
            // By bytes, as a browser reads them: no more markup than in the page of a harmless event.
            let plain = try await pages.get(path.replacing("/\(id)", with: "/\(harmless)")).body
            for sign in "<>".utf8 {
                let counts = [page, plain].map { $0.utf8.count { $0 == sign } }
                #expect(path.hasPrefix("/embed") || counts[0] == counts[1], "\(path) \(Unicode.Scalar(sign))")
            }
        }
        let event = try data(try await pages.get("/events/\(id)").body)
        #expect(event["name"]?.string?.contains("</script><script>alert(1)</script>") == true)
    }
}

@Suite struct `A list of events in another page` {
    @Test(.pages()) func `has the next ones of an area, with words and a category, and no script`() async throws {
        let first = try await pages.create("Chess", at: "2037-01-01T10:00:00Z", #","category":"games""#)
        _ = try await pages.create("Over", at: "2001-01-01T10:00:00Z")
        let gone = try await pages.create("Cancelled", at: "2037-01-01T09:00:00Z")
        _ = try await pages.send("DELETE", "/v1/events/\(gone)", "")
        // A feed reaches a year ahead.
        let next = ServedPages.tomorrow
        for number in 1...25 { _ = try await pages.create("Jazz \(number)", at: next, #","category":"music""#) }
        let soon = try await pages.create("Chess soon", at: next, #","category":"games""#)
        let list = try await pages.get("/embed?bbox=13,52,14,53&category=games")
        #expect(
            list.body.contains("Chess soon")
                && list.body.contains(#"href="/events/\#(soon)?lang=en" target="_blank" rel="noopener""#))
        #expect(!list.body.contains("Over") && !list.body.contains("Cancelled") && !list.body.contains("/events/\(first)\""))
        #expect(!list.body.contains("<script"))
        let all = try await pages.get("/embed?lat=52.525&lon=13.405&q=jaz&lang=de")
        #expect(all.body.matches(of: /<li>/).count == 20 && all.body.contains("Kommende Events"))

        let policy = try #require(list.headers["content-security-policy"].first)
        #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors *") && !policy.contains("script-src"))
        #expect(list.headers["x-frame-options"] == [] && list.headers["x-robots-tag"] == ["noindex"])
        #expect(list.headers["set-cookie"] == [])
        #expect(try await pages.get("/events/\(soon)").headers["x-frame-options"] == ["DENY"])
        let tag = try #require(list.headers["etag"].first)
        #expect(try await pages.get("/embed?bbox=13,52,14,53&category=games", [("if-none-match", tag)]).status == 304)

        let wrong = try await pages.get("/embed?bbox=13&category=%3Cb%3E")
        #expect(wrong.status == 422 && wrong.body.contains("The address of this page is not right"))
        #expect(wrong.body.contains("Bbox "))
    }
}

@Suite struct `Markup` {
    @Test func `a text in it is no markup, and markup in it is`() {
        let inner: HTML = "<b>\("<i>")</b>"
        let outer: HTML = "<p title=\"\("\"'&")\">\(inner)\(Int64(7))</p>"
        #expect(outer.text == #"<p title="&quot;'&amp;"><b>&lt;i&gt;</b>7</p>"#)
        #expect(["a", "b"].map { "\($0)<br>" as HTML }.joined().text == "a<br>b<br>")
    }

    @Test func `a text loses control characters and overrides of direction, and nothing else`() {
        let kept = "tab\t line\n שלום é 日本 👩‍👧 \u{301}"
        #expect(("\(kept)" as HTML).text == kept)
        #expect(("\("a\u{0}\u{8}\u{D}\u{7F}\u{85}\u{202E}\u{2066}b")" as HTML).text == "ab")
    }

    @Test func `a block of data cannot end, and is the same data`() throws {
        let data: JSON = ["name": "</script><!--<script>&"]
        let markup: HTML = "\(data: data)"
        #expect(!markup.text.contains { "<>&".contains($0) })
        #expect(try JSON(utf8: Array(markup.text.utf8)) == data)
    }
}

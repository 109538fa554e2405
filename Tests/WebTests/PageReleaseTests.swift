import Foundation
import HTTPTypes
import NIOCore
import TestDatabase
import Testing

@testable import HTTPServer
@testable import Web

@Suite struct `The files of the map page` {
    private static let release = PageRelease(tiles: nil)

    private static func request(_ path: String, _ headers: HTTPFields = [:]) -> Request {
        Request(head: HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: path, headerFields: headers))
    }

    private static func asset(_ name: String, release: String? = nil, _ headers: HTTPFields = [:]) throws -> Response {
        let release = release ?? Self.release.digest
        return try Self.release.asset(for: request("/assets/\(release)/\(name)", headers), release: release[...])
    }

    private static func page(_ release: PageRelease = release) -> String {
        String(buffer: release.page(for: request("/")).body)
    }

    @Test func `contain every file of the folders page, texts and data, each with a media type`() throws {
        let names = try ["page", "texts", "data"].flatMap {
            try FileManager.default.contentsOfDirectory(
                atPath: Repository.root.appending(path: "Sources/CEmbeddedPage/\($0)").path)
        }
        #expect(names.count > 5)
        #expect(Set(names).isSubset(of: Set(PageFile.all.map(\.name))))
        #expect(PageFile.all.filter { $0.mediaType == nil }.map(\.name) == [])
    }

    @Test func `are kept by caches for ever under the path of their release, and not under another`() throws {
        for (name, type) in [("page.css", "text/css; charset=utf-8"), ("coast-6-0-0", "text/plain; charset=utf-8")] {
            let response = try Self.asset(name)
            #expect(response.headers[.cacheControl] == "public, max-age=31536000, immutable")
            #expect(response.headers[.contentType] == type)
            let other = try Self.asset(name, release: "0000000000000000")
            #expect(other.headers[.cacheControl] == "no-store" && other.body.readableBytes > 0)
        }
        let plain = try Self.asset("leaflet.js")
        for coding in ["zstd", "gzip"] {
            let packed = try Self.asset("leaflet.js", [.acceptEncoding: coding])
            #expect(packed.headers[.contentEncoding] == coding && packed.headers[.vary] == "Accept-Encoding")
            #expect(packed.body.readableBytes < plain.body.readableBytes / 2)
        }
    }

    @Test func `include the tiles of the coast as gzip files, and nothing of another name`() throws {
        for name in ["coast-6-0-0", "coast-6-63-63", "coast-9-275-167", "coast-9-511-511"] {
            let response = try Self.asset(name)
            #expect(response.headers[.contentEncoding] == "gzip", "\(name)")
            #expect(Array(response.body.readableBytesView.prefix(2)) == [0x1f, 0x8b], "\(name)")
        }
        for name in [
            "coast-6-64-0", "coast-6-0-64", "coast-9-512-0", "coast-9-0-4294967295", "coast-7-0-0", "coast-4294967295-0-0",
            "coast-6-0", "coast", "coast-6-0-0-0", "coast-06-0-0", "coast-6--1-0", "shore-6-0-0", "missing.js", "index.html",
            "..", "",
        ] {
            #expect(throws: HTTPError.notFound, "\(name)") { try Self.asset(name) }
        }
    }

    @Test func `have a path that changes with each byte`() {
        var files = PageFile.all
        files[0].bytes.append(32)
        #expect(PageRelease(files, tiles: nil).digest != Self.release.digest)
    }

    @Test func `the page names assets of its release only, and has no inline script, style or handler`() {
        let page = Self.page()
        #expect(!page.contains("{{"), "a place left to fill")
        let names = page.matches(of: /(?:src|href)="([^"#]+)"/).map { String($0.1) }.filter { !$0.hasPrefix("https://") }
        #expect(names.count > 3)
        for name in names where name != "/docs" { #expect(name.hasPrefix("/assets/\(Self.release.digest)/"), "\(name)") }
        #expect(page.matches(of: /<script(?![^>]*\ssrc=)|<style|\sstyle=|\son[a-z]+=/).isEmpty)
    }

    @Test func `a client that has the page gets 304`() {
        let tag = Self.release.page(for: Self.request("/")).headers[.eTag] ?? ""
        let response = Self.release.page(for: Self.request("/", [.ifNoneMatch: tag]))
        #expect(response.status == .notModified)
        #expect(response.body.readableBytes == 0)
    }

    @Test func `the page names the tile server as text`() throws {
        let tiles = try #require(Tiles(#"https://tiles.example.org/{z}/{x}/{y}.png <b> "Streets""#))
        let page = Self.page(PageRelease(tiles: tiles))
        #expect(page.contains("https://tiles.example.org/{z}/{x}/{y}.png"))
        #expect(page.contains("&lt;b&gt; &quot;Streets&quot;"))
    }
}

@Suite struct `The language of the map page` {
    private static let release = PageRelease(tiles: nil)

    private static func response(_ target: String, accepting header: String? = nil, tag: String? = nil) -> Response {
        var headers = HTTPFields()
        headers[.acceptLanguage] = header
        headers[.ifNoneMatch] = tag
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: target, headerFields: headers)
        return release.page(for: Request(head: head))
    }

    @Test(
        arguments: [
            ("/", nil, "en"), ("/", "de-AT,de;q=0.9,en;q=0.5", "de"), ("/", "en-GB,en;q=0.9,de;q=0.8", "en"),
            ("/", "fr, de;q=0.1", "de"),
            ("/", "fr", "en"), ("/", "de;q=x", "en"), ("/", ";;,=", "en"), ("/?lang=de", nil, "de"), ("/?lang=DE", "en", "de"),
            ("/?lang=de-AT", "en", "de"),
            ("/?a=1&lang=en&lang=de", "de", "en"), ("/?lang=xx", "de", "de"), ("/?lang=", "de", "de"),
            ("/?lang=%64%65", nil, "en"),
            ("/?lang=../../en", nil, "en"), ("/?lang", nil, "en"), ("/?langs=de", nil, "en"),
            ("/", String(repeating: "fr,", count: 9_999) + "de", "en"), ("/", String(repeating: "fr,", count: 63) + "de", "de"),
        ] as [(String, String?, String)])
    func `is that of the address, else the one that the browser prefers, else English`(
        target: String, header: String?, language: String
    ) {
        let response = Self.response(target, accepting: header)
        let page = String(buffer: response.body)
        #expect(page.contains(#"<html lang="\#(language)" dir="ltr">"#))
        #expect(
            page.contains(
                language == "de" ? "<title>Humon: Events in deiner Nähe</title>" : "<title>Humon: events near you</title>"))
        // One file of texts.
        let preloaded = page.matches(of: /"preload" as="fetch" crossorigin href="([^"]+)"/).map { String($0.1) }
        #expect(preloaded == ["/assets/\(Self.release.digest)/\(language).json"])
        #expect(response.headers[.contentLanguage] == language)
        #expect(response.headers[.vary]?.contains("Accept-Language") == true)
    }

    @Test func `has an entity tag of its own, so that no cache answers with another language`() throws {
        let (english, german) = (Self.response("/", accepting: "en"), Self.response("/", accepting: "de"))
        let tags = try [english, german].map { try #require($0.headers[.eTag]) }
        #expect(tags[0] != tags[1])
        let same = Self.response("/", accepting: "de", tag: tags[1])
        #expect(same.status == .notModified && same.headers[.eTag] == tags[1])
        #expect(same.headers[.vary]?.contains("Accept-Language") == true)
        #expect(Self.response("/", accepting: "de", tag: tags[0]).status == .ok)
        #expect(Self.response("/?lang=en", accepting: "de", tag: tags[0]).status == .notModified)
    }

    @Test(.page) func `counts at both addresses of the page, also for HEAD, and none varies the files`() async throws {
        for path in ["/", "/back"] {
            for method in [HTTPRequest.Method.get, .head] {
                let answer = await page.send(method, path, ["accept-language": "de", "accept-encoding": "gzip"])
                #expect(answer.status == 200 && answer.headers[.contentLanguage] == "de", "\(method) \(path)")
                let vary = try #require(answer.headers[.vary])
                #expect(vary.contains("Accept-Language") && vary.contains("Accept-Encoding"), "\(method) \(path)")
                #expect(answer.headers[.contentSecurityPolicy]?.contains("connect-src 'self'") == true)
            }
        }
        let file = await page.send(.get, "/assets/0/de.json", ["accept-language": "en"])
        #expect(file.headers[.contentType] == "application/json; charset=utf-8")
        #expect(file.body.contains(#""page.title": "Humon: Events in deiner Nähe""#))
        #expect(file.headers[.vary]?.contains("Accept-Language") != true)
    }

    @Test func `fills every place of the page, and a text becomes no markup`() throws {
        let hostile = PageFile(
            name: "xx.json", bytes: Array(#"{"page.title":"</title><script>{{tiles}}&\"","page.direction":"rtl"}"#.utf8))
        let release = PageRelease(PageFile.all + [hostile], tiles: nil)
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: "/?lang=xx")
        let page = String(buffer: release.page(for: Request(head: head)).body)
        #expect(page.contains("<title>&lt;/title&gt;&lt;script&gt;{{tiles}}&amp;&quot;</title>"))
        #expect(page.contains(#"<html lang="xx" dir="rtl">"#))
        // A text that is missing shows its key.
        #expect(page.contains(">page.skip<"))
    }
}

@Suite struct `The security headers of the map page` {
    @Test func `forbid everything but the page's own files`() {
        #expect(
            SecurityHeaders.contentSecurityPolicy(tiles: nil)
                == "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; "
                + "form-action 'none'; frame-ancestors 'none'")
    }

    @Test func `allow images of the tile server that the settings name`() throws {
        let tiles = try #require(Tiles("https://tiles.example.org:8443/a/{z}/{x}/{y}.png © Streets"))
        #expect(
            SecurityHeaders.contentSecurityPolicy(tiles: tiles).contains("img-src 'self' data: https://tiles.example.org:8443;"))
        #expect(Tiles("https://tiles.example.org/{z}/{x}/{y}{r}.png © Streets") != nil)
        for text in [
            "https://tiles.example.org/{z}/{x}/{y}.png", "tiles.example.org/{z}/{x}/{y}.png © A",
            "https://a.example/{z}/{x}.png © A", "https://a.example;script-src/{z}/{x}/{y} © A",
            "ftp://a.example/{z}/{x}/{y} © A", "", "https://a.example:99999/{z}/{x}/{y} © A",
            "https://a.example/{id}/{z}/{x}/{y}?access_token={accessToken} © A", "https://a.example/{z}/{x}/{y}{r}.{ext} © A",
            "https://a.example/{z}/{x}/{{y}} © A",
        ] {
            #expect(Tiles(text) == nil, "\(text)")
        }
    }

    @Test func `are on every response of the page, and on none of the API`() async throws {
        try await TestPage.with { page in
            for path in ["/", "/assets/0/page.css", "/session", "/assets/0/missing"] {
                let headers = await page.send(.get, path, ownPage).headers
                #expect(headers[.contentSecurityPolicy]?.hasPrefix("default-src 'none'") == true, "\(path)")
                #expect(headers[.xContentTypeOptions] == "nosniff", "\(path)")
            }
            #expect(await page.send(.get, "/v1/events/1").headers[.contentSecurityPolicy] == nil)
        }
    }
}

@Suite struct `The origins of the map page` {
    @Test func `a list of origins is read, and all origins are none`() {
        #expect(WebOrigins("https://a.example, http://192.168.1.5:8080") != nil)
        for list in ["", "*", "https://map.example.org/"] { #expect(WebOrigins(list) == nil, "\(list)") }
    }
}

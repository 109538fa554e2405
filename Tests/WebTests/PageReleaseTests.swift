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

    @Test func `contain every file of the folders page and data, each with a media type`() throws {
        let names = try ["page", "data"].flatMap {
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

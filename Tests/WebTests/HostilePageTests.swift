import Encoding
import HTTPServer
import HTTPTypes
import Logging
import NIOCore
import TestDatabase
import TestHTTP
import TestServer
import Testing

@Suite(.serialized) struct `A hostile page in a visitor's browser` {
    /// Serves an empty page at a port of its own.
    private static let hostile = Router(
        routes: [
            .immediate(.get, "/") { _, _ in
                Response(headers: [.contentType: "text/html"], body: ByteBuffer(string: "<!doctype html><title>Hostile</title>"))
            }
        ], logger: .quiet)

    /// What a page can send to another origin without asking: a form in the visitor's name.
    private static func attack(_ address: String) -> String {
        """
        Promise.allSettled([
            fetch("\(address)/session", { method: "POST", mode: "no-cors", credentials: "include" }),
            fetch("\(address)/v1/events", {
                method: "POST", mode: "no-cors", credentials: "include",
                headers: { "content-type": "application/x-www-form-urlencoded" },
                body: "name=Hostile&lat=52.52&lon=13.4&started_at=2037-01-01T20:00:00Z",
            }),
            fetch("\(address)/session", { method: "DELETE", credentials: "include" }),
            fetch("\(address)/session", { credentials: "include" }),
        ]).then((results) => results.map(({ value }) => value?.type ?? "blocked").join())
        """
    }

    private static func user(_ page: BrowserPage) async throws -> JSON {
        try await page.evaluate("fetch('/session').then((answer) => answer.json()).then(({ id }) => id)")
    }

    /// Every name of a foreign site leads to this machine.
    @Test(.live(["--host-resolver-rules=MAP *.example 127.0.0.1"]))
    func `at another port or another site neither writes nor reads in the visitor's name`() async throws {
        try await live.open()
        try await live.page.evaluate("fetch('/session', { method: 'POST' })")
        let user = try await Self.user(live.page)
        #expect(user.integer != nil)
        try await Self.hostile.withServer { _, port in
            for host in ["127.0.0.1", "evil.example"] {
                try await live.page.open("http://\(host):\(port)/")
                try await live.page.until("document.title === 'Hostile'")
                let results = try await live.page.evaluate(Self.attack(live.address)).string ?? ""
                #expect(!results.contains("cors,") && !results.hasSuffix("cors"), "\(host) read an answer: \(results)")
                try await live.page.discardComplaints()
            }
        }
        // No event was created, no user signed up, and the visitor's session is as it was.
        #expect(try await live.send("GET", "/v1/events/1").status == 404)
        try await live.open()
        #expect(try await Self.user(live.page) == user)
        // Under a name that leads to this server there is no session.
        try await live.page.open("http://evil.example:\(live.port)/")
        try await live.page.until("document.title.startsWith('Humon')")
        let status = try await live.page.evaluate("fetch('/session', { method: 'POST' }).then(({ status }) => status)")
        #expect(status == JSON(403))
        // The browser ignores some security headers here, because the name has no https.
        try await live.page.discardComplaints()
    }
}

import Encoding
import TestServer
import Testing

@Suite(.live(), .serialized) struct `The page of the API's documentation` {
    private static func open(_ live: LivePage, _ operation: String) async throws {
        try await live.page.open("\(live.address)/docs#\(operation)")
        try await live.page.until("document.getElementById('\(operation)')?.querySelector('.try')?.checkVisibility()")
    }

    /// Sends the request of an operation, and waits for its status.
    private static func send(_ live: LivePage, _ operation: String, status: String) async throws {
        try await live.page.click("#\(operation) .try button")
        let said = "document.querySelector('#\(operation) .try [role=status]').textContent"
        try await live.page.until("\(said).startsWith('\(status)')")
    }

    @Test func `a phone shows all of it without scrolling sideways`() async throws {
        let page = live.page
        try await page.resize(375, 800, isMobile: true)
        try await Self.open(live, "createEvent")
        try await page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
        try await page.until("document.querySelectorAll('.try').length === document.querySelectorAll('.curl').length")
        #expect(try await page.evaluate("document.documentElement.scrollWidth") == JSON(375))
    }

    @Test func `a filter hides the requests without its words, and a link shows its request again`() async throws {
        let page = live.page
        try await Self.open(live, "createEvent")
        let shown = "[...document.querySelectorAll('article')].filter(e => e.checkVisibility()).map(e => e.id).join()"
        try await page.fill("#filter", "delete LEAVEevent")
        #expect(try await page.evaluate(shown) == "leaveEvent")
        #expect(try await page.text("#count").hasPrefix("1 of "))
        let links = "[...document.querySelectorAll('nav li')].filter(e => e.checkVisibility()).length"
        #expect(try await page.evaluate(links) == JSON(1))
        try await page.evaluate("location.hash = 'error-blank'; location.hash = 'getEvent'")
        try await page.until("document.querySelector('#getEvent .try')?.checkVisibility()")
        // Other requests stay folded.
        #expect(try await page.evaluate("document.querySelector('#listTasks .curl').checkVisibility()") == .bool(false))
        #expect(try await page.evaluate("document.getElementById('filter').value") == "")
        // Header fields are searched, too, and an address that names nothing is no fault.
        try await page.fill("#filter", "if-match PUT")
        #expect(try await page.evaluate("(\(shown)).split(',').includes('replaceEvent')") == .bool(true))
        try await page.fill("#filter", "")
        for hash in ["100%", "errors"] {
            // The event of the new address comes first.
            try await page.evaluate("location.hash = '\(hash)'; new Promise((done) => setTimeout(done, 100))")
        }
        #expect(try await page.evaluate("document.querySelector('#errors details').open") == .bool(false))
        // The button "Unfold all" unfolds, also beside a request that is unfolded.
        #expect(try await page.text("#fold") == "Unfold all")
        try await page.click("#fold")
        let closed = "document.querySelectorAll('article > details:not([open])').length"
        #expect(try await page.evaluate(closed) == JSON(0))
        try await page.click("#fold")
        #expect(try await page.evaluate("\(closed) === document.querySelectorAll('article').length") == .bool(true))
    }

    @Test func `a request is sent with the secrets of the tab, to this server only`() async throws {
        let page = live.page
        try await Self.open(live, "createUser")
        try await page.fill("[name=SECRET]", HumonProcess.secret)
        try await page.fill("[name=TOKEN]", "token-of-the-docs")
        try await Self.send(live, "createUser", status: "200")
        // Another document in the tab has the secrets, too.
        try await Self.open(live, "createEvent")
        try await Self.send(live, "createEvent", status: "200")
        try await page.until(#"document.querySelector('#createEvent .try pre').textContent.includes('{"id":1}')"#)
        let event = try JSON(utf8: try await live.send("GET", "/v1/events/1").body.utf8)
        #expect(event["started_at"]?.string?.hasPrefix("2030-") == true, "\(event.text)")

        _ = try await page.events("Network.requestWillBeSent")
        for path in ["//127.0.0.2/v1/events", "https://example.org/v1/events"] {
            try await page.fill("#createEvent .try input", path)
            try await Self.send(live, "createEvent", status: "The path must be one of this server.")
        }
        let requests = try await page.events("Network.requestWillBeSent").compactMap { $0["request"]?["url"]?.string }
        #expect(requests.allSatisfy { $0.hasPrefix(live.address) || $0 == "about:blank" }, "\(requests)")
        // A read has the token, too, and a deletion is asked for.
        try await page.evaluate("window.original = fetch; window.fetch = (...all) => original(...(window.sent = all)); true")
        try await page.evaluate("location.hash = 'getEvent'")
        try await page.until("document.querySelector('#getEvent .try')?.checkVisibility()")
        try await page.fill("#getEvent .try input", "/v1/events/1")
        try await Self.send(live, "getEvent", status: "200")
        #expect(try await page.evaluate("sent[1].headers.get('tb-device-token')") == "token-of-the-docs")
        try await page.evaluate("window.confirm = () => false; location.hash = 'cancelEvent'")
        try await page.until("document.querySelector('#cancelEvent .try')?.checkVisibility()")
        try await page.fill("#cancelEvent .try input", "/v1/events/1")
        try await Self.send(live, "cancelEvent", status: "Not sent.")
        #expect(try await live.send("GET", "/v1/events/1").status == 200)
        // A stream has no end, and the visitor may stop it.
        try await Self.open(live, "followChanges")
        try await Self.send(live, "followChanges", status: "200")
        try await page.until("document.querySelector('#followChanges .try button').textContent === 'Stop'")
        try await page.click("#followChanges .try button")
        try await page.until("document.querySelector('#followChanges .try button').textContent === 'Send'")
    }

    @Test func `axe finds nothing serious in light and dark, and a keyboard unfolds and sends`() async throws {
        let page = live.page
        // axe would need a minute for all requests. A request with a response, and those of each method, have all colours.
        try await Self.open(live, "getHealth")
        try await Self.send(live, "getHealth", status: "200")
        try await page.expectAccessible("the documentation", colours: false)
        for (words, scheme) in [("getHealth", "light"), ("attend", "light"), ("attend", "dark"), ("getHealth", "dark")] {
            try await page.prefer("prefers-color-scheme", scheme)
            try await page.fill("#filter", words)
            try await page.expectAccessible("the documentation, \(words), \(scheme)", colours: true)
        }
        try await page.open("\(live.address)/docs")
        try await page.until("document.querySelector('#filter')?.checkVisibility()")
        try await page.tab(to: "e.id === 'filter'")
        try await page.type("getLiveness")
        try await page.until("document.querySelectorAll('article:not([hidden])').length === 1")
        try await page.tab(to: "e.matches('#getLiveness > details > summary')")
        try await page.enter()
        try await page.until("document.querySelector('#getLiveness .try')")
        try await page.tab(to: "e.matches('#getLiveness .try button')")
        try await page.enter()
        try await page.until("document.querySelector('#getLiveness .try [role=status]').textContent.startsWith('200')")
    }

    @Test func `without a script the page has every request, its body before its header fields`() async throws {
        let page = live.page
        try await page.send("Emulation.setScriptExecutionDisabled", ["value": .bool(true)])
        try await page.open("\(live.address)/docs")
        try await page.until("document.readyState === 'complete' && document.querySelector('.curl')")
        let isWhole = "[...document.querySelectorAll('.curl')].every(e => e.checkVisibility())"
        #expect(try await page.evaluate(isWhole) == .bool(true))
        let dead = "document.querySelectorAll('button:not([hidden] *), input:not([hidden] *)').length"
        #expect(try await page.evaluate(dead) == JSON(0))
        let parts = "[...document.querySelectorAll('#createEvent h4, #createEvent details details > summary')]"
        let order = try await page.evaluate("\(parts).slice(0, 3).map(e => e.textContent).join()")
        #expect(order == "Body,Header fields,Responses")
    }
}

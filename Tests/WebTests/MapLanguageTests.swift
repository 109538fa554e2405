import Encoding
import Foundation
import HTTPTypes
import NIOCore
import Testing

@testable import HTTPServer
@testable import Web

@Suite(.serialized) struct `The languages of the map page` {
    @Test(.live()) func `in German a visitor finds, opens and attends an event, and reads what is wrong with another one`()
        async throws
    {
        let page = live.page
        try await live.createEvent("Jazz night")
        // The visitor's own region decides on the formats.
        try await page.zone("Europe/Vienna", locale: "de-AT")
        try await live.open(language: "de")
        try await page.until("document.getElementById('list-title').textContent === '1 Event in diesem Ausschnitt'")
        #expect(try await page.evaluate("document.title") == "Humon: Events in deiner Nähe")
        #expect(try await page.evaluate("document.documentElement.lang + document.dir") == "deltr")
        #expect(try await page.text("#list h3") == "Später")
        #expect(try await page.text("#list time").starts(with: "Do"))
        #expect(
            try await page.evaluate("document.getElementById('map').ariaLabel").string?.hasPrefix("Karte der Events.") == true)
        #expect(try await page.evaluate("document.querySelector('.leaflet-control-zoom-in').title") == "Vergrößern")
        try await page.expectAccessible("the list in German")
        // A message does not move the page where texts are longer, and a number without a short form fits its circle.
        for (width, height) in [(1030, 700), (1160, 700), (1200, 800)] {
            try await page.resize(width, height)
            #expect(try await page.evaluate(LivePage.isMovedByStates) == .bool(false), "\(width)")
        }
        let fitting = """
            import(document.body.dataset.assets + "/list.js").then(({ showList }) => {
                const clusters = [1234, 123456, 1234567].map((count) => ({ count, lat: count, lon: 0 }));
                showList({ kind: "clusters", clusters, total: 0 }, { cityOf: () => null, orderOf: () => null });
                const circles = [...document.querySelectorAll("#list .cluster")].filter((circle) => circle.checkVisibility());
                return circles.filter(({ scrollWidth, clientWidth }) => scrollWidth <= clientWidth).length;
            })
            """
        #expect(try await page.evaluate(fitting) == JSON(3))
        try await live.open(language: "de")

        try await page.click("#list button")
        let guests = "document.getElementById('attendance')?.textContent"
        try await page.until("\(guests) === 'Noch nimmt niemand teil.'")
        #expect(try await page.text("#details-view dl").contains("Deine Zeitzone: Europe/Vienna"))
        try await page.press(button: "Teilnehmen")
        try await page.until("\(guests) === '1 Person nimmt teil, und das bist du.'")

        try await page.click("#add")
        try await page.until("document.title === 'Event eintragen · Humon'")
        for (field, text) in [("lat", "91"), ("link", "javascript:alert(1)")] { try await page.fill("#field-\(field)", text) }
        try await page.click("#form-view [type=submit]")
        try await page.until("document.getElementById('error-name').textContent === 'Der Name fehlt noch.'")
        #expect(try await page.text("#error-lat") == "Der Breitengrad muss zwischen -90 und 90 liegen.")
        #expect(try await page.text("#error-link") == "Der Link ist keine gültige Webadresse.")
        #expect(try await page.text("#form-view .problem") == "Bitte korrigiere die markierten Felder.")
        // The language stays in the address.
        #expect(try await page.evaluate("location.search") == "?lang=de")
    }

    @Test(.live()) func `without its texts the page shows their keys, and works`() async throws {
        try await live.page.send("Network.setBlockedURLs", ["urls": ["*/en.json"]])
        try await live.createEvent("Jazz night")
        try await live.open()
        try await live.untilListed(["Jazz night"])
        #expect(try await live.page.text("#list-title") == "list.title.view")
    }

    @Test(.live()) func `the secret of a link leaves the address before the texts come`() async throws {
        // Nothing answers the request for them.
        try await live.page.send("Fetch.enable", ["patterns": [["urlPattern": "*/en.json"]]])
        try await live.page.open("\(live.address)/back#\(String(repeating: "a", count: 26))")
        try await live.page.until("location.pathname + location.hash === '/'")
        #expect(try await live.page.text("#status") == "Connecting…")
        try await live.page.send("Fetch.disable")
    }

    @Test(.live()) func `a language that is longer and runs from right to left fits every view, and no text is left in English`()
        async throws
    {
        let page = live.page
        // It is on: how far away others are is a format of `Intl`.
        let id = try await live.createEvent("Jazz night", at: Date.now.ISO8601Format(), zone: "Asia/Tokyo")
        try await Self.answering(with: try Self.release(), page) {
            // Signed up, the visitor has the whole list.
            try await live.open(language: Self.language)
            try await page.evaluate("fetch('/session', { method: 'POST' })")
            try await live.open(language: Self.language)
            try await page.until("document.getElementById('who').textContent.includes('[')")
            #expect(try await page.evaluate("document.dir + document.title[0]") == "rtl[")
            try await Self.expectBracketed("the list", page)
            try await page.click("#list button")
            try await page.until("document.getElementById('attendance')?.textContent.endsWith(']')")
            #expect(try await page.text("#details-view dd .hint").hasPrefix("["))
            try await Self.expectBracketed("the details", page)
            try await page.expectAccessible("the details from right to left")
            try await page.click("#add")
            try await page.fill("#field-lat", "91")
            try await page.click("#form-view [type=submit]")
            try await page.until("document.getElementById('error-lat').textContent !== ''")
            try await Self.expectBracketed("the form with errors", page)
            try await page.expectAccessible("the form from right to left")
            try await page.key("Escape", code: 27)
            try await page.until("document.getElementById('question').open")
            try await Self.expectBracketed("a question", page)
            try await page.click("#question [value=yes]")
            // The form was opened from the details.
            try await page.until("!document.getElementById('details-view').hidden")
            try await page.click("#details-view .back")
            try await page.until("!document.getElementById('list-view').hidden")
            try await page.click("#who button")
            try await page.until("document.querySelectorAll('#way .buttons button').length > 2")
            try await Self.expectBracketed("the way back", page)
            try await page.key("Escape", code: 27)
            try await page.until("!document.getElementById('way').open")
            try await page.click("#who button:nth-of-type(2)")
            try await page.until("document.querySelectorAll('#way .buttons button').length > 1")
            try await Self.expectBracketed("the address of the calendar", page)
            try await page.key("Escape", code: 27)
            try await page.until("!document.getElementById('way').open")
            try await page.click("#return")
            try await page.until("document.getElementById('pass')")
            try await Self.expectBracketed("the return", page)
            try await live.open("map=12/10/10&when=any", language: Self.language)
            try await page.until("document.querySelector('#list [data-key^=near]')")
            try await Self.expectBracketed("an empty view", page)
            try await live.send("DELETE", "/v1/events/\(id)")
            try await live.open("map=12/52.52/13.4&when=any&event=\(id)", language: Self.language)
            try await page.until("document.querySelector('#details-view .notice')")
            try await Self.expectBracketed("a cancelled event", page)
        }
    }

    // MARK: The pseudo-language

    /// A tag for private use, which no browser knows. Source: ISO 639-2.
    private static let language = "qaa"

    /// A release with a language more, made of the English one: each text is longer, stands in brackets, and runs from right to left.
    private static func release() throws -> PageRelease {
        let english = try #require(PageFile.all.first { $0.name == "en.json" })
        guard case .object(let texts) = try JSON(utf8: english.bytes) else {
            throw BrowserPage.ScriptError(description: "no texts")
        }
        let members = texts.members.map { member in
            JSONObject.Member(
                name: member.name, value: member.name == "page.direction" ? "rtl" : bracketed(member.value))
        }
        let table = JSON.object(JSONObject(members: members))
        return PageRelease(PageFile.all + [PageFile(name: "\(language).json", bytes: table.utf8)], tiles: nil)
    }

    private static func bracketed(_ text: JSON) -> JSON {
        switch text {
        case .string(let text): .string("[\(text)\(String(repeating: " ōō", count: 1 + text.count / 8))]")
        case .object(let forms):
            .object(JSONObject(members: forms.members.map { JSONObject.Member(name: $0.name, value: bracketed($0.value)) }))
        case .null, .bool, .number, .array: text
        }
    }

    /// Answers the browser's requests for the page and its texts from a release while the body runs. The server has all other files.
    private static func answering(
        with release: PageRelease, _ page: BrowserPage, _ body: () async throws -> Void
    ) async throws {
        let patterns: JSON = [
            ["urlPattern": .string("*lang=\(language)*"), "resourceType": "Document"],
            ["urlPattern": .string("*/\(language).json")],
        ]
        try await page.send("Fetch.enable", ["patterns": patterns])
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var answered: Set<String> = []
                while !Task.isCancelled {
                    // A page that is left cancels its requests.
                    for request in page.heard("Fetch.requestPaused") {
                        guard let id = request["requestId"]?.string, answered.insert(id).inserted else { continue }
                        let answer = try #require(try? Self.answer(to: request, id: id, release), "\(request.text)")
                        _ = try? await page.send("Fetch.fulfillRequest", answer)
                    }
                    try await Task.sleep(for: .milliseconds(50))
                }
            }
            try await body()
            group.cancelAll()
        }
        try await page.send("Fetch.disable")
    }

    private static func answer(to request: JSON, id: String, _ release: PageRelease) throws -> JSON {
        let isPage = request["resourceType"] == "Document"
        let target = isPage ? "/?lang=\(language)" : "/assets/\(release.digest)/\(language).json"
        let head = HTTPRequest(method: .get, scheme: "http", authority: "localhost", path: target)
        let (asked, digest) = (Request(head: head), release.digest)
        let response = try isPage ? release.page(for: asked) : release.asset(for: asked, release: digest[...])
        let type = response.headers[.contentType] ?? ""
        return [
            "requestId": .string(id), "responseCode": JSON(200),
            "responseHeaders": [
                ["name": "content-type", "value": .string(type)],
                ["name": "content-security-policy", "value": .string(SecurityHeaders.contentSecurityPolicy(tiles: nil))],
            ],
            "body": .string(Data(response.body.readableBytesView).base64EncodedString()),
        ]
    }

    /// The visible texts and labels without brackets, except for values of events, names of places and the formats of `Intl`.
    private static let unbracketed = """
        (() => {
            const other = ".leaflet-control-attribution, .leaflet-control-scale, .city, .far, .cluster, .pin, .sheet, .secret, time, "
                + "[dir=auto], [translate=no], [target=_blank], #field-time_zone";
            const isRead = (text) => /\\p{L}/u.test(text) && !/^\\[.*\\]$/su.test(text.trim());
            const isShown = (element) => element.closest("select")?.checkVisibility() ?? element.checkVisibility();
            const found = [];
            const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
            while (walker.nextNode()) {
                const { textContent, parentElement } = walker.currentNode;
                if (isRead(textContent) && isShown(parentElement) && !parentElement.closest(other)) found.push(textContent);
            }
            for (const element of document.body.querySelectorAll("[aria-label], [title], [placeholder], [alt]")) {
                if (!isShown(element) || element.closest(other)) continue;
                for (const name of ["aria-label", "title", "placeholder", "alt"]) {
                    const text = element.getAttribute(name) ?? "";
                    if (isRead(text)) found.push(`${name}: ${text}`);
                }
            }
            return found;
        })()
        """

    /// What of the page is wider than the screen, or reaches beyond one of its sides.
    private static let overflowing = """
        [...document.querySelectorAll("header, header *, #filters, #search *, #filters > .toggle, #status, #panel, #panel *, #near, #announcement, dialog[open], dialog[open] *")]
            .filter((element) => element.checkVisibility() && !element.closest(".hidden, option"))
            .filter((element) => (({ left, right }) => left < -1 || right > innerWidth + 1)(element.getBoundingClientRect()))
            .map((element) => element.outerHTML.slice(0, 200))
            .concat([document.documentElement, document.getElementById("panel"), ...document.querySelectorAll("dialog[open]")]
                .filter((element) => element.scrollWidth > element.clientWidth).map((element) => `${element.tagName} scrolls sideways`))
        """

    private static func expectBracketed(_ what: String, _ page: BrowserPage, line: Int = #line) async throws {
        for (width, height) in [(320, 640), BrowserPage.phone, (1160, 700), (1200, 800)] {
            try await page.resize(width, height)
            // The map hears of its new size, and the page of the map's.
            try await page.until("document.getElementById('list').ariaBusy === 'false'", line: line)
            #expect(try await page.evaluate(unbracketed) == [], "\(what), \(width)")
            #expect(try await page.evaluate(overflowing) == [], "\(what), \(width)")
        }
    }
}

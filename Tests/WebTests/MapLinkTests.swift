import Encoding
import Testing

@Suite(.live(), .serialized) struct `Links to an event of the map page` {
    private static let isMarked = "document.querySelectorAll('.pin.selected').length === 1"

    @Test func `a link marks its event among clusters, beside the filter, and outside of its own view`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night", lat: 48.1, lon: 11.5)
        for number in 0..<70 { try await live.createEvent("Many", lat: 40 + Double(number) / 5) }
        // Without a view the link goes to the event's streets, also from another continent.
        try await page.zone("America/New_York")
        try await live.open("event=\(id)")
        try await live.untilDetails("Jazz night")
        try await live.untilMap(zoom: 15, lat: 48.1, lon: 11.5)
        try await page.until(Self.isMarked)
        try await live.open("map=5/50/11&when=any&event=\(id)")
        try await live.untilDetails("Jazz night")
        try await page.until("document.querySelector('#map .cluster') && \(Self.isMarked)")
        try await live.untilMap(zoom: 5, lat: 50, lon: 11)
        try await live.open("map=12/48.1/11.5&when=today&event=\(id)")
        try await live.untilDetails("Jazz night")
        try await page.until("document.querySelectorAll('.pin').length === 1 && \(Self.isMarked)")
        try await live.open("map=12/40.7/-74&when=any&event=\(id)")
        try await live.untilDetails("Jazz night")
        try await live.untilMap(zoom: 12, lat: 48.1, lon: 11.5)
        try await page.until(Self.isMarked)
        try await page.evaluate("document.querySelector('.back').click()")
        try await page.until("document.querySelectorAll('.pin.selected').length === 0")
    }

    @Test func `details share the address of the event's page, and lead to it and to a calendar`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night")
        try await live.open()
        try await live.openEvent("Jazz night")
        let links =
            "[...document.querySelectorAll('#details-view .ways a')].filter((e) => e.checkVisibility()).map((e) => e.pathname)"
        try await page.until("document.querySelector('#details-view .ways').checkVisibility()")
        #expect(try await page.evaluate(links) == [.string("/v1/events/\(id).ics"), .string("/events/\(id)")])
        #expect(try await page.evaluate("document.querySelector('.ways a').hasAttribute('download')") == .bool(true))
        #expect(
            try await page.evaluate("fetch(document.querySelector('.ways a').href).then(({ status }) => status)") == JSON(200))
        // Another app, a clipboard, and neither. What a visitor shares has no fragment.
        let (said, address) = ("document.getElementById('announcement').textContent", "\(live.address)/events/\(id)")
        func share(where name: String, is value: String) async throws {
            try await page.evaluate("Object.defineProperty(navigator, '\(name)', { value: \(value), configurable: true }); true")
            try await page.press(button: "Share")
        }
        try await share(where: "share", is: "async ({ title, url }) => { window.shared = `${title} ${url}`; }")
        try await page.until("window.shared === 'Jazz night \(address)'")
        #expect(try await page.evaluate(said) == "")
        try await page.evaluate("Object.defineProperty(navigator, 'share', { value: undefined }); true")
        try await share(where: "clipboard", is: "{ writeText: async (text) => { window.copied = text; } }")
        try await page.until("window.copied === '\(address)' && \(said) === 'The address is copied.'")
        try await share(where: "clipboard", is: "undefined")
        try await page.until("getSelection().toString() === '\(address)' && \(said).startsWith('The address is selected')")
        try await page.expectAccessible("an address that is selected")
        // A cancelled event has its page alone.
        try await live.send("DELETE", "/v1/events/\(id)")
        try await page.until("document.querySelector('#details-view h2').textContent === 'Cancelled: Jazz night'")
        #expect(try await page.evaluate(links) == [.string("/events/\(id)")])
        #expect(try await page.evaluate("document.querySelector('.ways button')") == .null)
    }

    @Test func `a link to a cancelled event says for as long as the visitor likes what, when and where it was`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night", lat: 48.1, lon: 11.5)
        try await live.send("DELETE", "/v1/events/\(id)")
        try await page.zone("Europe/Berlin")
        try await live.open("event=\(id)")
        let heading = "document.querySelector('#details-view:not([hidden]) h2')?.textContent"
        try await page.until("\(heading) === 'Cancelled: Jazz night'")
        let said = try await page.text("#details-view dl")
        #expect(said.contains("1 January 2037") && said.contains("21:00") && said.contains("48.10000, 11.50000"))
        try await live.untilMap(zoom: 15, lat: 48.1, lon: 11.5)
        try await page.until("\(Self.isMarked) && location.hash.includes('event=\(id)')")
        try await page.expectAccessible("a cancelled event")
        // The looks at open details leave it alone.
        let look = "document.dispatchEvent(new Event('visibilitychange'))"
        let mark = "document.querySelector('#details-view h2').isOld"
        try await page.evaluate(
            "(async () => { \(mark) = true; \(look); for (let n = 0; n < 5; n += 1) await fetch('/session'); })()")
        #expect(try await page.evaluate(mark) == .bool(true))
        // Its time goes along with the visitor.
        try await page.zone("America/New_York")
        try await page.evaluate(look)
        try await page.until("document.querySelector('#details-view dl').textContent.includes('15:00')")
        #expect(try await page.evaluate(heading) == "Cancelled: Jazz night")
        try await page.press(button: "← All events")
        try await page.until("!document.getElementById('list-view').hidden && !location.hash.includes('event=')")
        try await page.evaluate("location.hash = '#map=12/52.52/13.4&when=any&event=999.'")
        try await page.until("\(heading) === 'This event is not there'")
        #expect(try await page.evaluate("document.activeElement.tagName") == "H2")
        // An event that cannot be read now keeps its address, and opens when it can be read.
        let other = try await live.createEvent("Blues night", lat: 48.1, lon: 11.5)
        let refusing = """
            const original = window.fetch;
            window.fetch = async (path, ...rest) =>
                path === "/v1/events/\(other)" && !window.isReadable ? new Response("{}", { status: 503 }) : original(path, ...rest);
            """
        try await page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(refusing)])
        try await live.open("map=12/40.7/-74&when=any&event=\(other)")
        try await page.until("\(heading) === 'This event cannot be shown now' && location.hash.includes('event=\(other)')")
        try await page.evaluate("window.isReadable = true; \(look)")
        try await live.untilDetails("Blues night")
        try await live.untilMap(zoom: 12, lat: 48.1, lon: 11.5)
    }
}

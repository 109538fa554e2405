import Encoding
import Testing

@Suite(.live(), .serialized) struct `The clock of the map page` {
    /// Opens the page with a clock that shows a time, and goes on from there.
    private static func open(_ live: LivePage, at time: String, _ place: String = "map=12/52.52/13.4&when=any") async throws {
        let clock = """
            const Real = Date;
            window.ahead = Real.parse("\(time)") - Real.now();
            window.Date = class extends Real {
                constructor(...parts) { parts.length > 0 ? super(...parts) : super(Real.now() + ahead); }
                static now() { return Real.now() + ahead; }
            };
            """
        try await live.page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(clock)])
        try await live.page.zone("UTC")
        try await live.open(place)
    }

    /// Puts the clock forward. The page looks at it when its tab becomes visible.
    private static func forward(minutes: Int, _ page: BrowserPage) async throws {
        try await page.evaluate("ahead += \(minutes) * 60000; document.dispatchEvent(new Event('visibilitychange')); true")
    }

    @Test func `an event without an end is on for three hours, today, in the list, on the map and in its details`() async throws {
        let page = live.page
        try await live.createEvent("Jazz night", at: "2037-01-01T12:00:00Z")
        try await Self.open(live, at: "2037-01-01T14:50:00Z", "map=12/52.52/13.4&when=today")
        try await live.untilListed(["Jazz night"])
        try await page.click("[name=when][value=any]")
        try await live.openEvent("Jazz night")
        #expect(try await page.text("#list h3") == "Now")
        #expect(try await page.text("#details-view .distance") == "on now")
        #expect(try await page.evaluate("document.querySelectorAll('.pin.past').length") == JSON(0))
        try await Self.forward(minutes: 20, page)
        try await page.until("document.querySelector('#list h3').textContent === 'Earlier'")
        #expect(try await page.text("#details-view .distance") == "over")
        #expect(try await page.evaluate("document.querySelectorAll('.pin.past').length") == JSON(1))
        try await page.click("[name=when][value=today]")
        try await live.untilListed([])
    }

    @Test func `a time alone has the clock of a span`() async throws {
        let page = live.page
        try await live.createEvent("Open", lat: 52.53, at: "2037-01-01T08:30:00Z")
        let body =
            #"{"name":"Ended","lat":52.52,"lon":13.4,"started_at":"2037-01-02T08:30:00Z","ended_at":"2037-01-02T09:30:00Z"}"#
        #expect(try await live.send("POST", "/v1/events", body).status == 200)
        for (locale, start, span) in [("en-GB", "08:30", "08:30–09:30"), ("en-US", "8:30 AM", "8:30 – 9:30 AM")] {
            try await page.zone("UTC", locale: locale)
            try await live.open()
            try await live.untilListed(["Open", "Ended"])
            // Intl has narrow and thin spaces in some versions.
            let times = try await page.evaluate(
                "[...document.querySelectorAll('#list time')]"
                    + ".map((e) => e.textContent.replace(/\\s/g, ' ').split(', ').at(-1))")
            #expect(times == [.string(start), .string(span)])
        }
    }

    @Test func `a minute that changes nothing does not make the list again, also after a live change`() async throws {
        let page = live.page
        try await live.createEvent("Later", lat: 52.53, at: "2037-03-01T12:00:00Z")
        try await Self.open(live, at: "2037-01-01T12:00:30Z")
        try await live.untilListed(["Later"])
        try await live.createEvent("Soon", at: "2037-01-02T12:00:00Z")
        try await live.untilListed(["Soon", "Later"])
        try await page.evaluate("document.querySelector('#list ul').isOld = true")
        try await Self.forward(minutes: 1, page)
        #expect(try await page.evaluate("document.querySelector('#list ul').isOld") == .bool(true))
    }
}

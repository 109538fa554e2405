import Encoding
import Testing

@Suite(.live(), .serialized) struct `Several events at one place of the map page` {
    private static func untilTitled(_ text: String, _ page: BrowserPage, line: Int = #line) async throws {
        try await page.until("document.getElementById('list-title').textContent === \(JSON.string(text).text)", line: line)
    }

    @Test func `are a pin with their number, which lists them alone and follows their changes`() async throws {
        let page = live.page
        let names = (1...7).map { "Event \($0)" }
        var ids: [Int] = []
        for name in names { ids.append(try await live.createEvent(name)) }
        try await live.createEvent("Elsewhere", lat: 52.515)
        try await live.open()
        try await live.untilListed(names + ["Elsewhere"])
        try await page.until("document.querySelectorAll('.pin').length === 2")
        #expect(try await page.text(".pin.stack") == "7")
        try await page.click(".pin.stack")
        try await Self.untilTitled("7 events at this place", page)
        try await live.untilListed(names)
        #expect(try await page.evaluate("document.activeElement.id") == "list-title")
        try await page.expectAccessible("the list of a place")
        try await live.send("DELETE", "/v1/events/\(ids[0])")
        let eighth = try await live.createEvent("Event 8")
        try await Self.untilTitled("7 events at this place", page)
        try await live.untilListed(names.dropFirst() + ["Event 8"])
        #expect(try await page.text(".pin.stack") == "7")
        try await live.openEvent("Event 3")
        try await page.until("document.querySelectorAll('.pin.stack.selected').length === 1")
        try await page.click("#details-view .back")
        try await live.untilListed(names.dropFirst() + ["Event 8"])
        try await page.press(button: "← All events")
        try await Self.untilTitled("8 events in view", page)
        try await live.untilListed(8)
        // The others go.
        try await page.click(".pin.stack")
        try await Self.untilTitled("7 events at this place", page)
        for id in ids.dropFirst() { try await live.send("DELETE", "/v1/events/\(id)") }
        try await Self.untilTitled("1 event at this place", page)
        try await page.until("document.querySelectorAll('.pin:not(.stack)').length === 2")
        try await live.send("DELETE", "/v1/events/\(eighth)")
        try await Self.untilTitled("1 event in view", page)
        try await live.untilListed(["Elsewhere"])
    }

    @Test func `180 and -180 degrees are one place and one cluster`() async throws {
        let page = live.page
        for lon in [180.0, -180] { try await live.createEvent("At the line", lat: 10, lon: lon) }
        try await live.open("map=12/10/180&when=any")
        try await page.until("document.querySelectorAll('.pin').length === 1")
        #expect(try await page.text(".pin.stack") == "2")
        for number in 0..<70 { try await live.createEvent("Many", lat: 0.1, lon: number < 40 ? 179.9 : -179.9) }
        try await live.open("map=4/0/180&when=any")
        try await page.until("document.querySelectorAll('#map .cluster').length === 2")
        let counts = try await page.evaluate(
            "[...document.querySelectorAll('#map .cluster')].map((e) => e.textContent).sort().join()")
        #expect(counts == "2,70")
        // The box of the two goes across the line: the map comes closer to it, and not to the other side of the world.
        try await page.click("#list button")
        try await page.until(
            "((zoom, lat, lon) => zoom === 12 && Math.abs(lat - 0.1) < 0.1 && Math.abs(Math.abs(lon) - 180) < 0.1)("
                + "...location.hash.match(/map=([^&]*)/)[1].split('/').map(Number))")
    }

    /// The visitor adds events at one place, 100 at a time.
    private static func add(_ count: Int, _ page: BrowserPage) async throws {
        try await page.evaluate(
            """
            (async () => {
                const body = JSON.stringify({ name: "Talk", lat: 52.525, lon: 13.405, started_at: "2037-01-01T20:00:00Z" });
                const options = { method: "POST", headers: { "content-type": "application/json" }, body };
                for (let added = 0; added < \(count); added += 50) {
                    await Promise.all(Array.from({ length: 50 }, () => fetch("/v1/events", options)));
                }
            })()
            """)
    }

    /// Presses "Show … more" until all rows are there. Then the focus is on the first row of the last press.
    private static func untilAllListed(_ count: Int, _ live: LivePage, line: Int = #line) async throws {
        for rows in stride(from: 100, to: count, by: 100) {
            try await live.untilListed(rows, line: line)
            try await live.page.press(button: "Show \(min(100, count - rows)) more", line: line)
            let focused = "[...document.querySelectorAll('#list li button')].indexOf(document.activeElement)"
            try await live.page.until("\(focused) === \(rows)", line: line)
        }
        try await live.untilListed(count, line: line)
        #expect(try await live.page.evaluate("document.querySelector('#list .more')") == .null)
    }

    @Test func `of 150 and of 1,100 events at one place each can be opened, there and in the visitor's own list`() async throws {
        let page = live.page
        try await live.open()
        try await page.evaluate("fetch('/session', { method: 'POST' })")
        // The page asks at its start who the visitor is.
        try await live.open("map=18/52.525/13.405&when=any")
        try await Self.add(150, page)
        try await page.until("document.querySelector('.pin.stack')?.textContent === '150'")
        try await page.click(".pin.stack")
        try await Self.untilTitled("150 events at this place", page)
        #expect(try await page.text("#list-note") == "The first 100 are listed.")
        try await page.expectAccessible("a list with more rows")
        try await Self.untilAllListed(150, live)
        // Five pages come at once, and further ones with a press. Here a page has 20 events.
        try await page.press(button: "← All events")
        try await page.evaluate(
            """
            const original = window.fetch;
            window.fetch = (path, ...rest) => original(String(path).replace("limit=1000", "limit=20"), ...rest);
            true
            """)
        try await page.click("[name=mine]")
        try await Self.untilTitled("Mine: more than 100 events", page)
        try await page.press(button: "Show more")
        try await Self.untilTitled("Mine: 150 events", page)
        try await live.untilListed(150)
        try await page.click("[name=mine]")
        try await page.click("#list .cluster")
        try await Self.untilTitled("150 events at this place", page)
        try await live.untilListed(100)
        try await page.press(button: "Show more")
        try await live.untilListed(150)
        try await page.evaluate("window.fetch = original; true")
        try await page.press(button: "← All events")

        try await Self.add(950, page)
        try await Self.untilTitled("1,100 events in view", page)
        try await page.click("#list .cluster")
        try await Self.untilTitled("1,100 events at this place", page)
        try await Self.untilAllListed(1_100, live)
        try await page.evaluate("document.querySelector('#list li:last-of-type button').click()")
        try await live.untilDetails("Talk")
        try await page.press(button: "← All events")
        try await live.untilListed(1_100)
        // The list follows changes, and goes with its cluster.
        try await page.evaluate("fetch('/v1/events/1', { method: 'DELETE' })")
        try await Self.untilTitled("1,099 events at this place", page)
        try await page.click("[name=mine]")
        try await Self.untilTitled("Mine: 1,099 events", page)
        try await Self.untilAllListed(1_099, live)
        try await page.click("[name=mine]")
        try await Self.untilTitled("1,099 events in view", page)
    }
}

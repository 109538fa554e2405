import Encoding
import Testing

@Suite(.serialized) struct `Several events at one place of the map page` {
    private static func untilTitled(_ text: String, _ page: BrowserPage, line: Int = #line) async throws {
        try await page.until("document.getElementById('list-title').textContent === \(JSON.string(text).text)", line: line)
    }

    @Test func `are a pin with their number, which lists them alone and follows their changes`() async throws {
        try await LivePage.with { live, _ in
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
    }

    @Test func `180 and -180 degrees are one place and one cluster`() async throws {
        try await LivePage.with { live, _ in
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
    }
}

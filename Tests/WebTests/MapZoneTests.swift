import Encoding
import Testing

@Suite(.live(), .serialized) struct `The zones of events on the map page` {
    @Test func `list and details show the time there where the visitor's clock shows another one`() async throws {
        let page = live.page
        try await page.zone("Europe/Berlin")
        for (name, time, zone) in [
            ("Same clock", "2037-01-01T17:00:00Z", "Europe/Paris"), ("Same day", "2037-01-01T18:00:00Z", "America/New_York"),
            ("Next day", "2037-01-01T19:00:00Z", "Asia/Tokyo"), ("No zone", "2037-01-01T20:00:00Z", nil),
        ] {
            try await live.createEvent(name, at: time, zone: zone)
        }
        try await live.open()
        try await live.untilListed(["Same clock", "Same day", "Next day", "No zone"])
        // Some versions of Intl have a comma behind the weekday.
        let hints =
            "[...document.querySelectorAll('#list li')].map((e) => (e.querySelector('small')?.textContent ?? '').replaceAll(',', ''))"
        #expect(try await page.evaluate(hints) == ["", " · 13:00 there", " · Fri 2 Jan 04:00 there", ""])
        try await live.openEvent("Same clock")
        #expect(try await page.evaluate("document.querySelector('#details-view dd .hint')") == .null)
        try await live.openEvent("Same day")
        #expect(try await page.text("#details-view dd .hint") == "13:00 there · 19:00 for you")
        #expect(try await page.text("#details-view dd time").contains("19:00"))
        try await page.expectAccessible("the details of an event elsewhere")
        // The visitor comes there.
        try await page.zone("America/New_York")
        try await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        try await page.until("!document.querySelector('#details-view dd .hint')")
        try await page.until("\(hints)[1] === '' && \(hints)[0].endsWith('18:00 there')")
    }

    @Test func `the form takes times in the zone of the place, until the visitor chooses another one`() async throws {
        let page = live.page
        func untilForm(_ zone: String, _ start: String, line: Int = #line) async throws {
            let shown = "['time_zone', 'started_at'].map((name) => document.getElementById(`field-${name}`)?.value).join()"
            try await page.until("\(shown) === '\(zone),\(start)'", line: line)
        }
        func move(lat: String, lon: String) async throws {
            try await page.fill("#field-lat", lat)
            try await page.fill("#field-lon", lon)
        }
        try await page.zone("Europe/Berlin")
        try await live.open("map=12/40.7/-74&when=any")
        try await page.click("#add")
        try await page.fill("#field-name", "Night")
        try await page.until(
            "document.getElementById('hint-time_zone')?.textContent === 'Times are in the zone America/New_York.'")
        // What was typed stays in another zone. Its clock leaves out another hour.
        try await page.fill("#field-started_at", "2037-03-08T02:30")
        let gap = "The clock goes forward and leaves 02:30 out: this is 03:30."
        #expect(try await page.text("#hint-started_at") == gap)
        // Vienna has the clock of Berlin.
        try await move(lat: "48.2", lon: "16.3")
        try await untilForm("Europe/Berlin", "2037-03-08T02:30")
        #expect(try await page.text("#hint-started_at") == "")
        try await move(lat: "40.7", lon: "-74")
        try await untilForm("America/New_York", "2037-03-08T02:30")
        #expect(try await page.text("#hint-started_at") == gap)
        try await page.fill("#field-started_at", "2037-05-05T15:00")
        #expect(try await page.text("#both-times") == "15:00 there · 21:00 for you")
        try await page.expectAccessible("the form of an event elsewhere")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Night")
        func stored(_ zone: String) async throws -> Bool {
            let event = try JSON(utf8: try await live.send("GET", "/v1/events/1").body.utf8)
            return event["started_at"] == "2037-05-05T19:00:00.000Z" && event["time_zone"] == .string(zone)
        }
        #expect(try await stored("America/New_York"))
        // Another zone for the same moment, and another place.
        try await page.press(button: "Change")
        try await untilForm("America/New_York", "2037-05-05T15:00")
        try await page.fill("#field-time_zone", "America/Denver")
        try await untilForm("America/Denver", "2037-05-05T13:00")
        try await move(lat: "48.2", lon: "16.3")
        try await untilForm("America/Denver", "2037-05-05T13:00")
        try await page.press(button: "Save")
        try await page.until("document.querySelector('#details-view:not([hidden]) dl')?.textContent.includes('America/Denver')")
        #expect(try await stored("America/Denver"))
    }
}

import Encoding
import Testing

@Suite(.live(), .serialized) struct `Changing an event in the form of the map page` {
    /// Waits until the times of the form are these, and the choice of the start's turn is this one; `null` if there is none.
    private static func untilStart(_ value: String, turn: String, _ page: BrowserPage, line: Int = #line) async throws {
        try await page.until(
            """
            (({ started_at: start, "started_at-turn": turn }) => start.value === "\(value)" && (turn.hidden ? null : turn.value) === \(turn))(
                document.querySelector("#form-view form").elements)
            """, line: line)
    }

    /// Makes an event of the page's own visitor, and opens its form. Writes of the page are counted from then on.
    private static func change(_ live: LivePage, _ id: Int = 1, at time: String, zone: String? = nil) async throws {
        let zone = zone.map { "\"\($0)\"" } ?? "undefined"
        try await live.open()
        try await live.page.evaluate(
            """
            fetch("/session", { method: "POST" }).then(() => fetch("/v1/events", {
                method: "POST", headers: { "content-type": "application/json" },
                body: JSON.stringify({
                    name: "Night", lat: 52.525, lon: 13.405, started_at: "\(time)", ended_at: null, time_zone: \(zone),
                }),
            }))
            """)
        let counting = """
            window.writes = [];
            const original = window.fetch;
            window.fetch = (path, options) => {
                if (!["GET", "HEAD", undefined].includes(options?.method)) writes.push(options.body);
                return original(path, options);
            };
            """
        // Once for a page: a second script would declare the same name.
        if id == 1 { try await live.page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(counting)]) }
        try await live.open("map=12/52.52/13.4&when=any&event=\(id)")
        try await live.untilDetails("Night")
        try await live.page.press(button: "Change")
        try await live.page.until("document.getElementById('field-name')")
    }

    private static func start(_ live: LivePage, _ id: Int = 1) async throws -> JSON? {
        try JSON(utf8: try await live.send("GET", "/v1/events/\(id)").body.utf8)["started_at"]
    }

    @Test func `a form shows times in the event's zone; saved untouched, it sends nothing and closes`() async throws {
        try await live.page.zone("Asia/Tokyo")
        for (index, (zone, time, shown, turn)) in [
            ("Europe/Berlin", "2026-10-25T01:30:00.000Z", "2026-10-25T02:30", "'1'"),
            ("Europe/Berlin", "2026-10-25T00:30:00.000Z", "2026-10-25T02:30", "'0'"),
            ("Australia/Lord_Howe", "2026-04-04T15:15:00.000Z", "2026-04-05T01:45", "'1'"),
            ("America/Sao_Paulo", "2018-02-18T02:30:00.000Z", "2018-02-17T23:30", "'1'"),
            ("Africa/Cairo", "2026-01-24T16:00:45.500Z", "2026-01-24T18:00", "null"),
        ].enumerated() {
            try await Self.change(live, index + 1, at: time, zone: zone)
            try await Self.untilStart(shown, turn: turn, live.page)
            try await live.page.press(button: "Save")
            try await live.untilDetails("Night")
            #expect(try await live.page.evaluate("writes.length") == JSON(0), "\(zone)")
            #expect(try await Self.start(live, index + 1) == .string(time), "\(zone)")
        }
    }

    @Test func `a form sends only what was changed, so that a time keeps its seconds`() async throws {
        let page = live.page
        try await page.zone("Europe/Berlin")
        try await Self.change(live, at: "2026-10-25T01:30:45.500Z")
        try await page.fill("#field-address", "Mauerpark")
        try await page.press(button: "Save")
        try await page.until("document.querySelector('#details-view:not([hidden]) dl')?.textContent.includes('Mauerpark')")
        #expect(try await page.evaluate("writes.map((body) => JSON.parse(body))") == [["address": "Mauerpark"]])
        #expect(try await Self.start(live) == "2026-10-25T01:30:45.500Z")
        try await page.press(button: "Change")
        try await page.fill("#field-address", "")
        try await page.press(button: "Save")
        try await page.until("!document.querySelector('#details-view:not([hidden]) dl')?.textContent.includes('Mauerpark')")
        #expect(try await page.evaluate("JSON.parse(writes[1])") == ["address": .null])
    }

    @Test func `the hour that comes twice can be chosen, and a reload keeps the choice`() async throws {
        let page = live.page
        try await page.zone("Europe/Berlin")
        try await Self.change(live, at: "2026-10-24T18:00:00.000Z")
        try await Self.untilStart("2026-10-24T20:00", turn: "null", page)
        try await page.fill("#field-started_at", "2026-10-25T02:30")
        try await Self.untilStart("2026-10-25T02:30", turn: "'0'", page)
        #expect(try await page.text("[name=started_at-turn]") == "The first 02:30 (GMT+2)The second 02:30 (GMT+1)")
        try await page.expectAccessible("the choice of a turn")
        try await page.fill("[name=started_at-turn]", "1")
        try await page.evaluate("window.isOld = true; location.reload()")
        try await page.until("!window.isOld && document.getElementById('field-name')")
        try await Self.untilStart("2026-10-25T02:30", turn: "'1'", page)
        try await page.press(button: "Save")
        try await live.untilDetails("Night")
        #expect(try await Self.start(live) == "2026-10-25T01:30:00.000Z")
        // The first hour of another window is not the second one of this.
        try await page.press(button: "Change")
        try await page.until("!document.getElementById('form-view').hidden")
        try await page.fill("#field-started_at", "2026-10-25T02:35")
        try await page.fill("[name=started_at-turn]", "1")
        let other = """
            fetch("/v1/events/1", {
                method: "PATCH", headers: { "content-type": "application/merge-patch+json" },
                body: JSON.stringify({ started_at: "2026-10-25T00:35:00Z" }),
            }).then(({ status }) => status)
            """
        #expect(try await page.evaluate(other) == JSON(200))
        try await page.press(button: "Save")
        try await page.until("document.querySelector('#form-view .problem').textContent.startsWith('Another window changed')")
        try await page.press(button: "Save")
        try await live.untilDetails("Night")
        #expect(try await Self.start(live) == "2026-10-25T01:35:00.000Z")
        // In another zone it comes once.
        try await page.press(button: "Change")
        try await page.until("!document.getElementById('form-view').hidden")
        try await page.fill("#field-started_at", "2026-10-25T02:40")
        try await page.fill("[name=started_at-turn]", "1")
        try await page.fill("#field-time_zone", "America/New_York")
        try await Self.untilStart("2026-10-25T02:40", turn: "null", page)
        try await page.press(button: "Save")
        try await live.untilDetails("Night")
        #expect(try await Self.start(live) == "2026-10-25T06:40:00.000Z")
    }

    @Test func `a reload in another zone keeps what was written and its zone, but not half a time`() async throws {
        let page = live.page
        try await page.zone("Europe/Berlin")
        try await Self.change(live, at: "2037-05-05T18:00:00.000Z")
        try await page.fill("#field-name", "Late")
        try await page.fill("#field-ended_at", "2037-05-06T05:00")
        try await page.zone("Asia/Tokyo")
        try await page.evaluate("window.isOld = true; location.reload()")
        let both = "document.getElementById('both-times')?.textContent"
        try await page.until("!window.isOld && \(both)?.includes('for you')")
        try await Self.untilStart("2037-05-05T20:00", turn: "null", page)
        try await page.press(button: "Save")
        try await live.untilDetails("Late")
        let written: JSON = ["name": "Late", "ended_at": "2037-05-06T03:00:00.000Z", "time_zone": "Europe/Berlin"]
        #expect(try await page.evaluate("writes.filter(Boolean).map((body) => JSON.parse(body))") == .array([written]))
        // The form tells of half a time that a reload lost, and never sends it as no time.
        try await page.press(button: "Change")
        try await page.until("!document.getElementById('form-view').hidden")
        try await page.evaluate("document.getElementById('field-ended_at').focus()")
        try await page.key("Backspace", code: 8)
        try await page.until("document.getElementById('field-ended_at').validity.badInput")
        try await page.zone("Africa/Lagos")
        try await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        try await page.until("\(both) === '20:00 there · 19:00 for you'")
        try await page.press(button: "Save")
        try await page.until("document.getElementById('error-ended_at').textContent.startsWith('A part is missing')")
        try await page.evaluate("window.isOld = true; location.reload()")
        try await page.until("!window.isOld && document.getElementById('error-ended_at')?.textContent.includes('is lost')")
        try await page.press(button: "Save")
        try await live.untilDetails("Late")
        #expect(try await page.evaluate("writes.length") == JSON(0))
        #expect(try await live.send("GET", "/v1/events/1").body.contains(#""ended_at":"2037-05-06T03:00:00.000Z""#))
    }

    @Test func `the form says what becomes of a time that the clock leaves out`() async throws {
        let page = live.page
        try await page.zone("Europe/Berlin")
        try await Self.change(live, at: "2027-03-28T18:00:00.000Z")
        try await page.fill("#field-started_at", "2027-03-28T02:30")
        let said = "document.getElementById('hint-started_at').textContent"
        try await page.until("\(said) === 'The clock goes forward and leaves 02:30 out: this is 03:30.'")
        try await page.fill("#field-started_at", "2027-03-28T04:30")
        try await page.until("\(said) === ''")
    }
}

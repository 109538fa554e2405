import Encoding
import Testing

@Suite(.serialized) struct `The map page where something is late, missing or refused` {
    private static let place = "map=12/52.52/13.4&when=any"
    private static let hasOwnerButtons =
        "[...document.querySelectorAll('#details-view button')].some(e => e.textContent === 'Change' && e.checkVisibility())"

    @Test(.live())
    func `the owner has the buttons of an event whose address is opened, also if the session comes late`() async throws {
        try await live.open()
        try await live.add("Own")
        try await live.page.until(Self.hasOwnerButtons)
        let late = """
            const original = window.fetch;
            window.fetch = async (path, ...rest) => {
                if (path === "/session") await new Promise((resolve) => setTimeout(resolve, 1000));
                return original(path, ...rest);
            };
            """
        try await live.page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(late)])
        try await live.open("\(Self.place)&event=1", untilLive: false)
        try await live.untilDetails("Own")
        try await live.page.until(Self.hasOwnerButtons)
        try await live.page.evaluate("document.querySelector('.back').click()")
        try await live.page.press(button: "Forget this browser")
        try await live.page.press(button: "Forget it")
        try await live.openEvent("Own")
        try await live.page.until("!(\(Self.hasOwnerButtons))")
    }

    @Test(.live())
    func `answers with 500 and 429 are asked for again, and an answer counts more than the browser's word`() async throws {
        try await live.createEvent("Jazz night")
        // The browser believes that there is no network, and there is a server.
        let refusing = """
            Object.defineProperty(navigator, "onLine", { value: false });
            const original = window.fetch;
            const statuses = [500, 429];
            window.fetch = async (path, ...rest) =>
                String(path).startsWith("/v1/events?") && statuses.length > 0
                    ? new Response("{}", { status: statuses.shift() }) : original(path, ...rest);
            """
        try await live.page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(refusing)])
        try await live.open(untilLive: false)
        try await live.untilListed(["Jazz night"])
        try await live.page.until(LivePage.isLive)
        try await live.page.evaluate("dispatchEvent(new Event('offline'))")
        try await live.createEvent("Blues night", at: "2037-01-02T20:00:00Z")
        try await live.untilListed(["Jazz night", "Blues night"])
        #expect(try await live.page.text("#status") == "Live")
    }

    @Test(.live()) func `an event that is loaded opens without a network, and is read again afterwards`() async throws {
        let id = try await live.createEvent("Jazz night")
        try await live.open()
        try await live.untilListed(["Jazz night"])
        try await live.page.network(isOffline: true)
        try await live.page.until("document.getElementById('status').textContent === 'Offline'")
        try await live.page.click("#list button")
        try await live.page.until("document.getElementById('attendance')?.textContent === 'The number is not known now.'")
        #expect(try await live.page.text("#details-view h2") == "Jazz night")
        try await live.send("PUT", "/v1/events/\(id)/attendance")
        try await live.page.network()
        try await live.page.until("document.getElementById('attendance').textContent === '1 person attends.'")
    }

    @Test(.live())
    func `without a network the page says what it does not know of another place, until the map is back`() async throws {
        let page = live.page
        try await live.createEvent("Jazz night")
        // Without inertia, so that the map ends where the mouse does.
        try await page.prefer("prefers-reduced-motion", "reduce")
        try await live.open()
        try await live.untilListed(["Jazz night"])
        let title = "document.getElementById('list-title').textContent"
        try await page.network(isOffline: true)
        try await page.until("document.getElementById('status').textContent === 'Offline'")
        #expect(try await page.evaluate(title) == "1 event in view")
        try await page.drag(x: 600, y: 500, by: -300)
        try await page.until("\(title) === 'Events in view: not known now'")
        try await page.drag(x: 300, y: 500, by: 300)
        try await page.until("\(title) === '1 event in view'")
        try await page.drag(x: 600, y: 500, by: -500)
        try await page.until("\(title) === 'Events in view: not known now'")
        try await page.network()
        try await page.until("\(title) === '0 events in view'")
    }

    @Test(.live()) func `the first view is the place of the visitor's time zone, and times are in that zone`() async throws {
        for (zone, lat, lon) in [
            ("Asia/Calcutta", 22.5, 88.4), ("Europe/Kiev", 50.4, 30.5), ("America/Sao_Paulo", -23.5, -46.6),
            ("Europe/Zurich", 47.4, 8.5),
        ] {
            try await live.page.zone(zone)
            try await live.open("")
            try await live.untilMap(zoom: 6, lat: lat, lon: lon)
        }
        // Times are English as the page is, whatever the browser speaks.
        try await live.page.zone("Europe/Berlin", locale: "de-DE")
        try await live.createEvent("Jazz night")
        try await live.open()
        try await live.untilListed(["Jazz night"])
        #expect(try await live.page.text("#list time").starts(with: "Thu"))
        #expect(try await live.page.text("#list time").contains("21:00"))
        // The computer travels while the page is open.
        let page = live.page
        try await live.openEvent("Jazz night")
        try await page.zone("America/New_York")
        try await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
        try await page.until("document.querySelector('#details-view dl').textContent.includes('zone: America/New_York')")
        #expect(try await page.text("#details-view dl time").contains("15:00"))
        try await page.until("document.querySelector('#list time').textContent.includes('15:00')")
        try await page.zone("Asia/Tokyo")
        try await page.click("#add")
        try await page.until("document.getElementById('hint-time_zone')?.textContent === 'Times are in the zone Europe/Berlin.'")
        try await page.fill("#field-name", "Travelled")
        try await page.fill("#field-started_at", "2037-05-05T20:00")
        try await page.zone("Africa/Lagos")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Travelled")
        #expect(try await live.send("GET", "/v1/events/2").body.contains(#""started_at":"2037-05-05T18:00:00.000Z""#))
    }

    @Test(.live()) func `the page works without the names of cities and the places of time zones`() async throws {
        try await live.page.send("Network.setBlockedURLs", ["urls": ["*/cities.tsv", "*/zones.tsv"]])
        try await live.createEvent("Jazz night")
        try await live.open("")
        try await live.untilListed(["Jazz night"])
    }

    @Test(.live(preferences: #"{"profile":{"default_content_setting_values":{"cookies":2}}}"#))
    func `a browser that blocks cookies shows everything, and says before any form why it cannot write`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night")
        try await live.open("\(Self.place)&form=1")
        let isSaid = "document.querySelector('#details-view:not([hidden])')?.textContent.includes('Allow cookies')"
        try await page.until(isSaid)
        #expect(try await page.evaluate("location.hash.includes('form=')") == .bool(false))
        try await page.expectAccessible("the advice")
        try await page.press(button: "← All events")
        try await live.openEvent("Jazz night")
        try await page.press(button: "Attend")
        try await page.until("document.querySelector('#details-view .problem').textContent.includes('Allow cookies')")
        try await page.click("#add")
        try await page.until("\(isSaid) && document.activeElement.tagName === 'H2'")
        #expect(try await page.evaluate("document.querySelector('#form-view form')") == .null)
        try await page.press(button: "← All events")
        // Reading goes on, live.
        try await live.send("DELETE", "/v1/events/\(id)")
        try await live.untilListed(0)
    }

    @Test(.live()) func `where the cookie does not come back the page says so after one sign-up`() async throws {
        let page = live.page
        let losing = """
            const original = window.fetch;
            window.signUps = 0;
            window.fetch = async (path, options) => {
                if (path !== "/session" || options?.method !== "POST") return original(path, options);
                signUps += 1;
                return new Response(JSON.stringify({ id: signUps }));
            };
            """
        try await page.send("Page.addScriptToEvaluateOnNewDocument", ["source": .string(losing)])
        try await live.createEvent("Jazz night")
        try await live.open()
        try await live.openEvent("Jazz night")
        try await page.press(button: "Attend")
        try await page.until("document.querySelector('#details-view .problem').textContent.includes('Allow cookies')")
        #expect(try await page.text("#who") == "")
        #expect(try await page.evaluate("signUps") == JSON(1))
    }
}

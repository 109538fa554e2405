import Encoding
import Postgres
import TestDatabase
import TestServer
import Testing

@Suite(.live(), .serialized) struct `Writing on the map page` {
    @Test func `a visitor adds, changes, attends, leaves and cancels an event with the keyboard alone`() async throws {
        let page = live.page
        try await live.open()
        try await page.tab(to: "e.id === 'add'")
        try await page.enter()
        try await page.tab(to: "e.name === 'name'")
        try await page.type("Chess <b>in</b> the park")
        try await page.enter()
        try await live.untilDetails("Chess <b>in</b> the park")
        try await page.until("document.querySelectorAll('.pin.mine.selected').length === 1")
        try await page.tab(to: "e.textContent === 'Attend'")
        try await page.enter()
        try await page.until("document.getElementById('attendance').textContent.startsWith('1 person attends, and you')")
        // The focus stays.
        try await page.until("document.activeElement.textContent === 'Leave'")
        try await page.enter()
        try await page.until("document.getElementById('attendance').textContent === 'Nobody attends yet.'")
        try await page.until("document.activeElement.textContent === 'Attend'")
        try await page.tab(to: "e.textContent === 'Change'")
        try await page.enter()
        try await page.tab(to: "e.name === 'address'")
        try await page.type("Mauerpark")
        try await page.enter()
        try await page.until("document.querySelector('#details-view dl')?.textContent.includes('Mauerpark')")
        try await page.tab(to: "e.textContent === 'Cancel the event'")
        try await page.enter()
        try await page.until("document.getElementById('question').open")
        try await page.tab(to: "e.value === 'yes'")
        try await page.enter()
        try await page.until("!document.getElementById('list-view').hidden")
        try await live.untilListed(0)
        try await page.until("document.activeElement.id === 'list-title'")
    }

    @Test func `a click on the map offers to add an event there, and a second click chooses another place`() async throws {
        let page = live.page
        try await live.open()
        try await page.click(x: 300, y: 300)
        try await page.press(button: "Add an event here")
        try await page.until("document.querySelector('.pin.draft')")
        let first = try await page.evaluate("document.getElementById('field-lon').value").string ?? ""
        try await page.click(x: 500, y: 500)
        try await page.until("document.getElementById('field-lon').value !== \(JSON.string(first).text)")
        try await page.fill("#field-name", "Picnic")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Picnic")
        let event = try JSON(utf8: try await live.send("GET", "/v1/events/1").body.utf8)
        guard case .number(let lon)? = event["lon"] else { throw BrowserPage.ScriptError(description: event.text) }
        #expect(try #require(Double(lon)) > #require(Double(first)))
    }

    @Test func `on a map of a region a click comes closer first, and no event is added without a chosen place`() async throws {
        let page = live.page
        try await live.open("map=5/50/10&when=any")
        try await page.click("#add")
        try await page.fill("#field-name", "Picnic")
        #expect(try await page.evaluate("document.getElementById('field-lat').value") == "")
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-lat').textContent.startsWith('Choose the place')")
        #expect(try await page.evaluate("document.activeElement.id") == "field-lat")
        try await page.expectAccessible("the form without a place")
        try await page.click(x: 300, y: 300)
        try await page.until("location.hash.includes('map=12/') && !document.querySelector('.leaflet-zoom-anim')")
        #expect(try await page.evaluate("document.querySelectorAll('.pin.draft').length") == JSON(0))
        try await page.click(x: 320, y: 320)
        try await page.until("document.querySelector('.pin.draft') && document.getElementById('field-lat').value !== ''")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Picnic")

        // Numbers count as a chosen place at every zoom.
        try await live.open("map=5/50/10&when=any")
        try await page.click("#add")
        try await page.fill("#field-name", "Walk")
        try await page.fill("#field-lat", "52.5")
        try await page.fill("#field-lon", "13.4")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Walk")
    }

    @Test func `the form shows each error of the API at its field`() async throws {
        let page = live.page
        try await live.open()
        try await page.click("#add")
        try await page.fill("#field-lat", "91")
        try await page.fill("#field-started_at", "")
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-name').textContent !== ''")
        #expect(try await page.text("#error-name") == "Name can't be blank")
        #expect(try await page.text("#error-lat") == "Latitude must be between -90 and 90")
        #expect(try await page.text("#error-started_at") == "Start can't be blank")
        #expect(try await page.text("#error-lon") == "")
        #expect(try await page.evaluate("document.activeElement.id") == "field-name")
        #expect(try await page.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true")
        // An error goes with its cause.
        let marked = "[...document.querySelectorAll('[aria-invalid]')].map((e) => e.name).join()"
        try await page.type("R")
        #expect(try await page.evaluate(marked) == "started_at,lat")
        try await page.click(x: 500, y: 500)
        try await page.until("\(marked) === 'started_at'")
        #expect(try await page.text("#form-view .problem") == "Please correct the marked fields.")
        try await page.fill("#field-started_at", "2027-05-05T20:00")
        #expect(try await page.evaluate("\(marked) + document.querySelector('#form-view .problem').textContent") == "")
        // Two numbers go into both fields, from a clipboard and by hand.
        for (text, field, lat, lon) in [
            ("40.71280, -74.00600", "lat", "40.71280", "-74.00600"), ("48,8566° N; 2,3522° E", "lon", "48.8566", "2.3522"),
            ("N 48.8566, E 2.3522,", "lat", "48.8566", "2.3522"), ("[40.7; -74]", "lon", "40.7", "-74"),
            ("geo:-33.9,18.4?z=9", "lat", "-33.9", "18.4"), (#"40º42'46"N 74º0'21.6"W"#, "lat", "40.712778", "-74.006000"),
            ("(-33.86 151.2)", "lat", "-33.86", "151.2"), ("geo:0,0?q=48.8566,2.3522(Cafe)", "lat", "48.8566", "2.3522"),
            ("geo:48.2,16.3,183;u=9", "lon", "48.2", "16.3"), ("74.0060 W; 40.7128 N;", "lon", "40.7128", "-74.0060"),
            ("geo:0,0?q=Paris", "lat", "geo:0,0?q=Paris", "-74.0060"), ("47° 36.123", "lat", "47° 36.123", "-74.0060"),
            ("52,5", "lat", "52,5", "-74.0060"),
        ] {
            try await page.evaluate("(e => { e.focus(); e.select(); })(document.getElementById('field-\(field)'))")
            try await page.type(text)
            try await page.evaluate("document.activeElement.blur()")
            try await page.until("document.getElementById('field-lat').value === '\(lat)'")
            #expect(try await page.evaluate("document.getElementById('field-lon').value") == .string(lon), "\(text)")
        }
        // A pair that is pasted goes into both, and not between the digits that are there.
        let isLeftToBrowser = try await page.evaluate(
            """
            (data => {
                data.setData("text/plain", "40.7128/–74.0061");
                return document.getElementById("field-lat").dispatchEvent(
                    new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
            })(new DataTransfer())
            """)
        #expect(isLeftToBrowser == .bool(false))
        #expect(try await page.evaluate("document.getElementById('field-lat').value") == "40.7128")
        #expect(try await page.evaluate("document.getElementById('field-lon').value") == "-74.0061")
        try await page.fill("#field-lat", "north")
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-lat').textContent.startsWith('Write a number')")
        // An end before the start is refused, and a year that is far away.
        try await page.fill("#field-name", "Reversed")
        try await page.fill("#field-lat", "52.52")
        try await page.fill("#field-started_at", "2027-05-05T20:00")
        try await page.fill("#field-ended_at", "2027-05-05T19:00")
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-ended_at').textContent === 'The end must not be before the start.'")
        #expect(try await page.evaluate("document.activeElement.id") == "field-ended_at")
        try await page.fill("#field-started_at", "2027-05-05T18:00")
        #expect(try await page.evaluate(marked) == "", "the start was the cause")
        try await page.fill("#field-ended_at", "9999-05-05T19:00")
        try await page.fill("#field-started_at", "0001-05-05T19:00")
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-started_at').textContent.includes('100 years')")
        #expect(try await page.text("#error-ended_at").contains("100 years"))
        #expect(try await live.send("GET", "/v1/events/1").status == 404)
    }

    @Test func `the page asks before it forgets a text, and keeps it over a reload and without a network`() async throws {
        let page = live.page
        try await live.open()
        try await page.click("#add")
        // An Escape while a text is composed belongs to the composition.
        try await page.evaluate("document.getElementById('field-name').focus()")
        try await page.send(
            "Input.imeSetComposition", ["text": "ジャズ", "selectionStart": JSON(3), "selectionEnd": JSON(3)])
        try await page.key("Escape", code: 27)
        #expect(try await page.evaluate("document.getElementById('question').open") == .bool(false))
        try await page.type("ジャズ")
        #expect(try await page.evaluate("document.getElementById('field-name').value") == "ジャズ")
        try await page.fill("#field-name", "Jazz night")
        try await page.key("Escape", code: 27)
        try await page.press(button: "Go on writing")
        try await page.evaluate("window.isOld = true; location.reload()")
        let isKept = "document.getElementById('field-name')?.value === 'Jazz night'"
        try await page.until("!window.isOld && \(isKept) && \(LivePage.isLive)")
        try await page.network(isOffline: true)
        try await page.press(button: "Add the event")
        try await page.until("document.querySelector('#form-view .problem')?.textContent.includes('Your text stays here')")
        try await page.network()
        try await page.until("!document.querySelector('#form-view [type=submit]').disabled")
        try await page.until("document.querySelector('#form-view .problem').textContent === ''")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Jazz night")
        #expect(try await page.evaluate("sessionStorage.length") == JSON(0))
        try await page.evaluate("document.querySelector('.back').click()")
        try await live.untilListed(["Jazz night"])
    }

    @Test func `mine has the events that the visitor added, and those that the visitor attends`() async throws {
        let page = live.page
        let other = try await live.createEvent("Attended", lat: 52.53)
        try await live.createEvent("Neither", lat: 52.51)
        try await live.open()
        try await live.add("Own")
        try await page.evaluate("document.querySelector('.back').click()")
        try await live.openEvent("Attended")
        try await page.press(button: "Attend")
        try await page.until("document.getElementById('attendance').textContent.startsWith('1 person attends')")
        try await page.evaluate("document.querySelector('.back').click()")
        try await page.click("[name=mine]")
        try await live.untilListed(["Own", "Attended"])
        #expect(try await page.text("#list-title") == "Mine: 2 events")
        // It follows changes, too.
        try await live.send("DELETE", "/v1/events/\(other)")
        try await live.untilListed(["Own"])
        try await page.press(button: "Forget this browser")
        try await page.press(button: "Forget it")
        try await live.untilListed([])
    }

    @Test func `a visitor erases everything, and the page says that it goes on until nothing is left`() async throws {
        let page = live.page
        try await live.createEvent("Other")
        try await live.open()
        try await live.add("Own")
        try await page.evaluate("document.querySelector('.back').click()")
        try await live.untilListed(2)
        try await page.press(button: "Erase everything about me")
        #expect(
            try await page.text("#question-text").hasPrefix("Erase everything about you? Your events and your attendances go")
        )
        try await page.press(button: "Keep it")
        try await live.database.withClient { client async throws in
            let tail: Int64 = try await client.query("SELECT log.tail()").decode(Int64.self)[0]
            // As if the subscription could not handle the erasure, wherever it comes among the next events. The names are others, so
            // that it does.
            try await client.query(
                """
                INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
                SELECT 'erasures', 'nobody-' || n, 1, \(tail) + n, 'unknown' FROM generate_series(1, 9) AS n
                """)
            try await page.press(button: "Erase everything about me")
            try await page.press(button: "Erase it all")
            try await page.until("document.getElementById('who').textContent.startsWith('Everything about you is being erased.')")
            #expect(try await page.evaluate("fetch('/v1/users/me').then(({ status }) => status)") == JSON(401))
            // Not even a reload loses the proof.
            try await live.open()
            try await page.until("document.getElementById('who').textContent.startsWith('Everything about you is being erased.')")
            try await client.query("DELETE FROM log.parked_streams")
            try await page.until("document.getElementById('who').textContent === ''")
        }
        try await live.untilListed(["Other"])
        #expect(try await live.send("GET", "/v1/events/2").status == 404)
        #expect(try await page.evaluate("fetch('/session').then((answer) => answer.text())") == #"{"id":null}"#)
        // The next write is another user's.
        try await live.add("New")
        try await page.until("document.getElementById('who').textContent.startsWith('You are user ')")
    }

    @Test func `two windows change one event: other fields are merged, the same field has both texts`() async throws {
        let page = live.page
        try await live.open()
        try await live.add("Own")
        // The other window has the same cookie.
        func other(_ change: String) async throws {
            let status = try await page.evaluate(
                """
                fetch("/v1/events/1", {
                    method: "PATCH", headers: { "content-type": "application/merge-patch+json" },
                    body: JSON.stringify(\(change)),
                }).then(({ status }) => status)
                """)
            #expect(status == JSON(200), "\(change)")
        }
        func stored() async throws -> JSON { try JSON(utf8: try await live.send("GET", "/v1/events/1").body.utf8) }
        try await page.press(button: "Change")
        try await page.fill("#field-started_at", "2037-05-05T20:00")
        try await other(#"{ address: "Mauerpark", lat: 52.53 }"#)
        try await page.press(button: "Save")
        try await live.untilDetails("Own")
        let merged = try await stored()
        #expect(merged["address"] == "Mauerpark" && merged["lat"] == .number("52.53"))
        #expect(merged["started_at"]?.string?.hasPrefix("2037-05-0") == true)

        try await page.press(button: "Change")
        try await page.fill("#field-name", "Late")
        try await page.fill("#field-address", "Tempelhof")
        try await other(#"{ name: "Overtaken", address: null, ended_at: "2037-05-06T20:00:00Z" }"#)
        try await page.press(button: "Save")
        try await page.until("document.querySelector('#form-view .problem')?.textContent.startsWith('Another window changed')")
        #expect(try await page.text("#error-name") == "Now it is “Overtaken”. Take that")
        #expect(try await page.text("#error-address") == "Now it is empty. Take that")
        #expect(try await page.text("#error-lat") == "")
        #expect(try await page.evaluate("document.getElementById('field-name').value") == "Late")
        #expect(try await page.evaluate("document.getElementById('field-ended_at').value !== ''") == .bool(true))
        try await page.expectAccessible("two versions of a field")
        try await page.click("#error-address button")
        #expect(try await page.evaluate("document.getElementById('field-address').value") == "")
        #expect(try await page.evaluate("sessionStorage.getItem('form').includes('Tempelhof')") == .bool(false))
        #expect(try await page.text("#form-view .problem").hasPrefix("Another window changed"), "the name has two versions")
        #expect(try await page.evaluate("document.querySelectorAll('#form-view [aria-invalid]').length") == JSON(0))
        try await page.press(button: "Save")
        try await live.untilDetails("Late")
        let kept = try await stored()
        #expect(kept["name"] == "Late" && kept["address"] == .null && kept["ended_at"] != .null)
        // A version that the page could not read is read before it is changed.
        try await page.evaluate(
            """
            const original = window.fetch;
            window.refused = 0;
            window.unconditional = 0;
            window.fetch = async (path, options) => {
                if (options?.headers?.["idempotency-key"] && !options.headers["if-match"]) unconditional += 1;
                if (path !== "/v1/events/1" || options?.method !== "GET" || refused > 0) return original(path, options);
                refused += 1;
                return new Response("{}", { status: 503 });
            };
            true
            """)
        try await other(#"{ ended_at: null }"#)
        try await page.until("refused === 1")
        try await page.press(button: "Change")
        try await page.until("!document.getElementById('form-view').hidden")
        try await page.fill("#field-address", "Tempelhof")
        try await page.press(button: "Save")
        try await live.untilDetails("Late")
        #expect(try await stored()["address"] == "Tempelhof")
        #expect(try await page.evaluate("unconditional") == JSON(0))
        // The form learns without a request of its own that the event is cancelled, and keeps the text.
        try await page.press(button: "Change")
        try await page.fill("#field-name", "Later")
        try await page.evaluate("fetch('/v1/events/1', { method: 'DELETE' })")
        try await page.until(
            "document.querySelector('#form-view .problem')?.textContent.startsWith('This event was cancelled elsewhere')")
        #expect(try await page.evaluate("document.getElementById('field-name').value") == "Later")
        #expect(try await page.evaluate("document.querySelector('#form-view [type=submit]').ariaDisabled") == "true")
        try await page.press(button: "← Back")
        try await page.press(button: "Leave it")
        try await page.until("document.querySelector('#details-view:not([hidden]) h2')?.textContent === 'Cancelled: Late'")
    }
}

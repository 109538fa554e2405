import Encoding
import Foundation
import TestServer
import Testing

@Suite(.serialized) struct `The map page in a browser` {
    @Test func `an empty server says how to run the demo, and the demo's events appear by themselves`() async throws {
        try await LivePage.with { live, _ in
            try await live.open("map=2/25/10&when=any")
            try await live.page.until("document.querySelector('.command')?.textContent === 'humon demo'")
            let demo = try await HumonProcess.run(
                ["demo", "--yes", "--events", "1500"], in: live.directory, environment: LivePage.environment(live.database))
            #expect(demo.status == 0)
            try await live.page.until("document.querySelectorAll('.cluster').length > 3")
            #expect(try await live.page.text("#list-title").hasSuffix(" events in view"))
            // Opening groups leads to single events, and an event to its details.
            for _ in 0..<8 where try await live.page.evaluate("document.querySelectorAll('.pin').length") == JSON(0) {
                let before = try await live.page.evaluate("location.hash").text
                try await live.page.click("#list button")
                try await live.page.until("JSON.stringify(location.hash) !== \(JSON.string(before).text)")
                try await live.page.until("document.getElementById('list').ariaBusy === 'false'")
            }
            try await live.page.click("#list [data-key^=event] button")
            try await live.page.until("document.querySelector('#details-view h2')")
            #expect(try await live.page.evaluate("location.hash.includes('event=')") == .bool(true))
        }
    }

    @Test func `a visitor adds, changes, attends and cancels an event with the keyboard alone`() async throws {
        try await LivePage.with { live, _ in
            let page = live.page
            try await live.open()
            try await page.tab(to: "e.id === 'add'")
            try await page.enter()
            try await page.tab(to: "e.name === 'name'")
            try await page.type("Chess <b>in</b> the park")
            try await page.enter()
            try await page.until("document.querySelector('#details-view h2')?.textContent === 'Chess <b>in</b> the park'")
            try await page.until("document.querySelectorAll('.pin.mine.selected').length === 1")
            try await page.until("document.getElementById('attendance').textContent.includes('attend')")
            try await page.tab(to: "e.textContent === 'Attend'")
            try await page.enter()
            try await page.until("document.getElementById('attendance').textContent.startsWith('1 person attends')")
            try await page.tab(to: "e.textContent === 'Change'")
            try await page.enter()
            try await page.tab(to: "e.name === 'address'")
            try await page.type("Mauerpark")
            try await page.enter()
            try await page.until("document.getElementById('details-view').innerText.includes('Mauerpark')")
            try await page.tab(to: "e.textContent === 'Cancel the event'")
            try await page.enter()
            try await page.until("document.getElementById('question').open")
            try await page.tab(to: "e.value === 'yes'")
            try await page.enter()
            try await page.until("!document.getElementById('list-view').hidden")
            try await live.untilListed(0)
        }
    }

    @Test func `the form shows each error of the API at its field`() async throws {
        try await LivePage.with { live, _ in
            let page = live.page
            try await live.open()
            try await page.click("#add")
            try await page.fill("#field-lat", "91")
            try await page.fill("#field-started_at", "")
            try await page.press(button: "Add")
            try await page.until("document.getElementById('error-name').textContent !== ''")
            #expect(try await page.text("#error-name") == "Name can't be blank")
            #expect(try await page.text("#error-lat") == "Lat must be between -90 and 90")
            #expect(try await page.text("#error-started_at") == "Started at can't be blank")
            #expect(try await page.text("#error-lon") == "")
            #expect(try await page.evaluate("document.activeElement.id") == "field-name")
            #expect(try await page.evaluate("document.activeElement.getAttribute('aria-invalid')") == "true")
        }
    }

    @Test func `an event of another client appears, changes and goes without a reload`() async throws {
        try await LivePage.with { live, _ in
            try await live.open()
            let id = try await live.createEvent("Jazz night")
            try await live.untilListed(1)
            #expect(try await live.page.text("#list strong") == "Jazz night")
            try await live.send(
                "PUT", "/v1/events/\(id)",
                #"{"name":"Blues night","lat":52.52,"lon":13.4,"started_at":"2037-01-01T20:00:00Z"}"#)
            try await live.page.until("document.querySelector('#list strong')?.textContent === 'Blues night'")
            try await live.send(
                "PUT", "/v1/events/\(id)", #"{"name":"Blues night","lat":48.1,"lon":11.6,"started_at":"2037-01-01T20:00:00Z"}"#)
            try await live.untilListed(0)
        }
    }

    @Test func `the page says that the server is gone, and misses nothing when it is back`() async throws {
        try await LivePage.with { live, server in
            try await live.createEvent("Before")
            try await live.open()
            try await live.untilListed(1)
            #expect(await server.stop() == 0)
            try await live.page.until("document.getElementById('status').dataset.state === 'reconnecting'")
            #expect(try await live.page.text("#list strong") == "Before")
            let again = try HumonProcess(
                ["serve"], in: live.directory, environment: LivePage.environment(live.database, port: live.port))
            let result: Result<Void, any Error>
            do {
                _ = try await again.port()
                try await live.createEvent("Meanwhile", lat: 52.515)
                try await live.page.until("document.getElementById('status').textContent === 'Live'")
                try await live.untilListed(2)
                result = .success(())
            } catch { result = .failure(error) }
            // The page keeps a stream open, which the server must end.
            #expect(await again.stop() == 0)
            try result.get()
        }
    }

    @Test func `a phone shows the map above the list, and nothing is wider than its screen`() async throws {
        try await LivePage.with { live, _ in
            try await live.createEvent("A name that is much longer than the screen of a phone is wide, for whatever reason")
            try await live.page.resize(BrowserPage.phone.width, BrowserPage.phone.height, isMobile: true)
            try await live.open()
            try await live.untilListed(1)
            let isBelow =
                "document.getElementById('panel').getBoundingClientRect().top >= document.getElementById('map').getBoundingClientRect().bottom"
            #expect(try await live.page.evaluate(isBelow) == .bool(true))
            #expect(try await live.page.evaluate("document.documentElement.scrollWidth") == JSON(BrowserPage.phone.width))
        }
    }

    @Test(arguments: ["light", "dark"])
    func `axe finds nothing serious`(scheme: String) async throws {
        try await LivePage.with { live, _ in
            try await live.createEvent("Jazz night")
            try await live.page.prefer("prefers-color-scheme", scheme)
            try await live.open()
            try await live.untilListed(1)
            try await live.page.expectAccessible("the list")
            try await live.page.click("#list button")
            try await live.page.until("document.getElementById('attendance')?.textContent.includes('attend')")
            try await live.page.expectAccessible("the details")
            try await live.page.click("#add")
            try await live.page.press(button: "Add")
            try await live.page.until("document.querySelector('[aria-invalid]')")
            try await live.page.expectAccessible("the form with errors")
        }
    }

    @Test func `a server for members offers to sign up, and then shows its events`() async throws {
        try await LivePage.with(environment: ["HUMON_READS": "devices"]) { live, _ in
            try await live.createEvent("Jazz night")
            try await live.open(untilLive: false)
            try await live.page.press(button: "Sign this browser up")
            try await live.untilListed(1)
            try await live.page.until("document.getElementById('status').textContent === 'Live'")
        }
    }
}

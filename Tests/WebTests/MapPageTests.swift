import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

@Suite(.serialized) struct `The map page in a browser` {
    @Test(.live()) func `an empty server invites visitors to add an event, and events appear by themselves`() async throws {
        try await live.open("map=2/25/10&when=any")
        try await live.page.until("document.getElementById('list-title').textContent === 'No events yet'")
        // Commands are for operators: `humon serve` says them.
        #expect(!(try await live.page.text("#list-note").contains("humon")))
        // The test's other client has signed up, so the demo asks.
        try await HumonProcess.run(
            ["demo", "--events", "1500", "--yes"], in: live.directory, environment: LivePage.environment(live.database)
        ).succeeded()
        try await live.page.until("document.querySelectorAll('#map .cluster').length > 3")
        #expect(try await live.page.text("#list-title").hasSuffix(" events in view"))
        // Opening groups leads to single events, and an event to its details.
        let rows = "document.querySelectorAll('#list [data-key^=event]').length"
        for _ in 0..<8 where try await live.page.evaluate(rows) == JSON(0) {
            let before = try await live.page.evaluate("location.hash").text
            try await live.page.click("#list button")
            try await live.page.until("JSON.stringify(location.hash) !== \(JSON.string(before).text)")
            try await live.page.until("document.getElementById('list').ariaBusy === 'false'")
        }
        try await live.page.click("#list [data-key^=event] button")
        try await live.page.until("document.querySelector('#details-view h2')")
        #expect(try await live.page.evaluate("location.hash.includes('event=')") == .bool(true))
    }

    @Test(.live()) func `moving the map loads what is in view, nothing else moves, and clusters join`() async throws {
        let page = live.page
        try await live.createEvent("West", lon: 13.4)
        try await live.createEvent("East", lon: 13.6)
        // Without inertia, so that the map ends where the mouse does.
        try await page.prefer("prefers-reduced-motion", "reduce")
        try await live.open()
        try await live.untilListed(["West"])
        // As the page marks an event that just came. Its animation would end by itself, so one script marks and looks.
        let marked = "(e => { e.className += ' fresh'; return getComputedStyle(e).animationName; })"
        for element in [".pin", "#list li"] {
            let animation = try await page.evaluate("\(marked)(document.querySelector('\(element)'))")
            #expect(animation == "none", "\(element)")
        }
        #expect(try await page.evaluate("document.querySelector('.leaflet-zoom-anim')") == .null)
        try await page.drag(x: 600, y: 500, by: -300)
        try await live.untilListed(["West", "East"])
        try await page.drag(x: 600, y: 500, by: -400)
        try await live.untilListed(["East"])
        try await page.until("document.querySelectorAll('.pin').length === 1")
        // 70 events around a corner of four cells of the map at zoom 4.
        for number in 0..<70 {
            try await live.createEvent("Many", lat: number % 2 == 0 ? 0.1 : -0.1, lon: number % 4 < 2 ? 0.1 : -0.1)
        }
        try await live.open("map=4/0/0&when=any")
        try await page.until("document.querySelectorAll('#map .cluster').length === 1")
        #expect(try await page.text("#map .cluster") == "70")
        #expect(try await page.text("#list-title") == "70 events in view")
    }

    @Test(.live()) func `a cluster has one name on the map and in the list, and a cluster of one event is its pin`() async throws
    {
        let page = live.page
        // Two cities that are one cluster at zoom 6. San Jose is larger, and the middle of the cluster is in San Francisco.
        for number in 0..<40 { try await live.createEvent("Many", lat: number % 2 == 0 ? 37.76 : 37.79, lon: -122.42) }
        for number in 0..<30 { try await live.createEvent("Many", lat: number % 2 == 0 ? 37.32 : 37.36, lon: -121.88) }
        try await live.createEvent("Alone", lat: 40, lon: -118)
        try await live.open("map=6/38/-120&when=any")
        try await page.until("document.querySelector('#map .cluster')?.textContent === '70'")
        #expect(try await page.text("#list strong") == "Around San Jose")
        let names = "[...document.querySelectorAll('.city.covered')].map((e) => e.textContent).join()"
        try await page.until("\(names) === 'San Jose'")
        #expect(try await page.evaluate("document.querySelectorAll('.pin').length") == JSON(1))
        try await page.click(".pin")
        try await live.untilDetails("Alone")
    }

    @Test(.live()) func `moving on cancels the request of the last place`() async throws {
        let page = live.page
        try await live.createEvent("Far", lat: 48.14, lon: 11.58)
        try await live.open()
        // The browser holds each request of a script until the end of this.
        try await page.send("Fetch.enable", ["patterns": [["urlPattern": "*", "resourceType": "Fetch"]]])
        try await page.evaluate("location.hash = '#map=12/50/12&when=any'")
        func isHeld(latitude: Int) async throws -> Bool {
            try await page.events("Fetch.requestPaused").contains {
                $0["request"]?["url"]?.string?.contains("%2C\(latitude).") == true
            }
        }
        try await eventually("a request for the first place") { try await isHeld(latitude: 49) }
        try await page.evaluate("location.hash = '#map=12/48.14/11.58&when=any'")
        try await eventually("a request for the second place") { try await isHeld(latitude: 48) }
        try await page.send("Fetch.disable")
        try await live.untilListed(["Far"])
        let cancelled = try await page.events("Network.loadingFailed").filter { $0["canceled"] == .bool(true) }
        #expect(cancelled.contains { $0["type"] == "Fetch" })
    }

    @Test(.live()) func `the address keeps place, filter and event, and the way back leads to the list`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night")
        try await live.open("map=12/52.52/13.4&when=any&event=\(id)")
        try await live.untilDetails("Jazz night")
        try await live.open()
        try await live.untilListed(["Jazz night"])
        try await live.openEvent("Jazz night")
        #expect(try await page.evaluate("location.hash.endsWith('&event=\(id)')") == .bool(true))
        try await page.evaluate("history.back()")
        try await page.until("!document.getElementById('list-view').hidden")
        try await page.until("document.activeElement.textContent.includes('Jazz night')")
        try await page.click("[name=when][value=week]")
        try await live.untilListed([])
        #expect(try await page.evaluate("location.hash.includes('when=week')") == .bool(true))
        try await page.evaluate("window.isOld = true; location.reload()")
        try await page.until(
            "!window.isOld && document.querySelector('[name=when]:checked')?.value === 'week' && \(LivePage.isLive)")
        try await live.untilListed([])
    }

    @Test(.live()) func `today, this week and any time show the events of that time, in the viewer's zone`() async throws {
        let page = live.page
        // Far enough from now for a busy machine.
        let soon = Date() + 600
        for (name, hours) in [("Soon", 0.0), ("In four days", 96), ("In ten days", 240), ("Over", -48)] {
            try await live.createEvent(name, at: soon.addingTimeInterval(hours * 3_600).formatted(.iso8601))
        }
        // Noon here, so that the day has neither just begun nor nearly ended.
        let offset = 12 - (Calendar(identifier: .iso8601).dateComponents(in: .gmt, from: soon).hour ?? 0)
        try await page.zone("Etc/GMT\(offset > 0 ? "-" : "+")\(abs(offset))")
        try await live.open("map=12/52.52/13.4&when=today")
        try await live.untilListed(["Soon"])
        try await page.click("[name=when][value=week]")
        try await live.untilListed(["Soon", "In four days"])
        try await page.click("[name=when][value=any]")
        try await live.untilListed(["Soon", "In four days", "In ten days", "Over"])
        #expect(try await page.text("#list [data-key^=event] time").contains("12:"))
    }

    @Test(.live()) func `a filter shows the list, and asks before a text is lost`() async throws {
        let page = live.page
        try await live.createEvent("Jazz night")
        try await live.open()
        try await live.openEvent("Jazz night")
        try await page.until("location.hash.includes('event=')")
        try await page.click("[name=when][value=week]")
        let isList = "!document.getElementById('list-view').hidden"
        try await page.until("\(isList) && location.hash.includes('when=week') && !location.hash.includes('event=')")
        try await live.untilListed([])
        try await page.click("#add")
        try await page.fill("#field-name", "Blues night")
        try await page.click("[name=mine]")
        try await page.press(button: "Go on writing")
        try await page.until("!document.querySelector('[name=mine]').checked && !document.getElementById('question').open")
        #expect(try await page.evaluate("document.getElementById('field-name').value") == "Blues night")
        try await page.click("[name=mine]")
        try await page.press(button: "Leave it")
        try await page.until("\(isList) && location.hash.includes('mine=1') && !location.hash.includes('form=1')")
    }

    @Test func `a server of tiles shows its streets and its attribution, and the policy allows it`() async throws {
        try await TileServer.with { tiles in
            try await LivePage.with(environment: ["HUMON_TILES": "\(tiles)/{z}/{x}/{y}.png © <b>Streets</b>"]) { live in
                try await live.open()
                try await live.page.until("document.querySelector('.leaflet-tile-loaded')?.naturalWidth === 1")
                #expect(try await live.page.text(".leaflet-control-attribution").contains("© <b>Streets</b>"))
            }
        }
    }

    @Test(.live(environment: ["HUMON_READS": "devices"]))
    func `a server for members offers to sign up, and then shows its events`() async throws {
        let id = try await live.createEvent("Jazz night")
        try await live.open(untilLive: false)
        try await live.page.press(button: "Sign this browser up")
        try await live.untilListed(["Jazz night"])
        try await live.page.until(LivePage.isLive)
        // The address of an event offers it, too.
        try await live.page.press(button: "Forget this browser")
        try await live.page.press(button: "Forget it")
        try await live.page.until("document.getElementById('who').textContent === ''")
        try await live.open("map=12/52.52/13.4&when=any&event=\(id)", untilLive: false)
        try await live.page.until("document.querySelector('#details-view h2')?.textContent.includes('cannot be shown now')")
        try await live.page.press(button: "Sign this browser up")
        try await live.untilDetails("Jazz night")
        // Nobody else could open its address.
        #expect(try await live.page.evaluate("document.querySelector('#details-view .ways').hidden") == .bool(true))
    }
}

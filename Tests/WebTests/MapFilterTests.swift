import Encoding
import Foundation
import TestServer
import Testing

@Suite(.live(), .serialized) struct `The filters of the map page` {
    private static let hash = "location.hash"

    /// Creates events that begin in some hours, each of a kind.
    private static func create(_ events: [(name: String, kind: String?, hours: Double, lat: Double)]) async throws {
        for (name, kind, hours, lat) in events {
            let start = (Date() + hours * 3_600).formatted(.iso8601)
            let category = kind.map { #","category":"\#($0)""# } ?? ""
            let body = #"{"name":"\#(name)","lat":\#(lat),"lon":13.4,"started_at":"\#(start)"\#(category)}"#
            #expect(try await live.send("POST", "/v1/events", body).status == 200)
        }
    }

    @Test func `on a phone something with music tonight, near here, is three taps away`() async throws {
        let page = live.page
        // It is five in the afternoon there now.
        let hour = Calendar(identifier: .iso8601).dateComponents(in: .gmt, from: Date()).hour ?? 0
        let east = 17 - hour > 12 ? 17 - hour - 24 : 17 - hour
        try await page.zone("Etc/GMT\(east > 0 ? "-" : "+")\(abs(east))")
        try await page.resize(BrowserPage.phone.width, BrowserPage.phone.height, isMobile: true)
        try await page.locate(lat: 52.5, lon: 13.4)
        try await Self.create([
            ("Jazz tonight", "music", 3, 52.501), ("Blues far away", "music", 3, 51), ("Chess tonight", "games", 3, 52.502),
            ("Jazz next week", "music", 170, 52.503), ("Jazz in a suburb", "music", 2, 52.515),
        ])
        try await live.open("map=3/40/0")
        for choice in ["#near", "[name=when][value=tonight]", "[name=kind][value=music]"] { try await page.tap(choice) }
        // The next one is an hour earlier.
        try await live.untilListed(["Jazz tonight", "Jazz in a suburb"])
        #expect(try await page.text("#list .when").hasSuffix(" · 110 m"))
        for part in ["when=tonight", "kind=music"] {
            #expect(try await page.evaluate("\(Self.hash).includes('\(part)')") == .bool(true), "\(part)")
        }
        #expect(try await page.evaluate("document.documentElement.scrollWidth") == JSON(BrowserPage.phone.width))
        // The address has all of it.
        try await page.evaluate("window.isOld = true; location.reload()")
        try await page.until("!window.isOld && \(LivePage.isLive)")
        try await live.untilListed(["Jazz in a suburb", "Jazz tonight"])
        #expect(try await page.evaluate("document.querySelector('[name=kind]:checked').value") == "music")
    }

    @Test func `what comes is shown first, a day and all times on request, and live changes keep to the choice`() async throws {
        let page = live.page
        try await page.zone("UTC")
        try await Self.create([("Soon", nil, 1, 52.52), ("Over", nil, -60, 52.52)])
        try await live.createEvent("Eve", at: "2036-12-24T18:00:00Z")
        try await live.open("map=12/52.52/13.4")
        try await live.untilListed(["Soon", "Eve"])
        try await page.click("[name=when][value=any]")
        try await live.untilListed(["Soon", "Eve", "Over"])
        let choose = "const day = document.querySelector('[name=day]'); day.value = '2036-12-24';"
        try await page.evaluate("\(choose) day.dispatchEvent(new Event('change', { bubbles: true })); true")
        try await live.untilListed(["Eve"])
        #expect(try await page.evaluate("document.querySelector('[name=when]:checked')") == .null)
        try await live.createEvent("Next year", at: "2037-12-24T18:00:00Z")
        try await live.createEvent("Dinner", at: "2036-12-24T20:00:00Z")
        try await live.untilListed(["Eve", "Dinner"])
    }

    @Test func `the box finds words as they are written, in the list, in clusters, live, and in one's own events`() async throws {
        let page = live.page
        try await Self.create([("Café Músico", nil, 5, 52.52), ("Chess", nil, 5, 52.52)])
        try await live.open()
        try await live.untilListed(2)
        try await page.focus("#words")
        try await page.type("musi")
        try await page.until("document.querySelectorAll('#finds [role=option]').length >= 1")
        #expect(try await page.evaluate("document.getElementById('words').ariaExpanded") == "true")
        try await page.enter()
        try await live.untilListed(["Café Músico"])
        try await page.until("\(Self.hash).includes('q=musi') && document.getElementById('finds').hidden")
        try await live.createEvent("Musical")
        try await live.createEvent("Poker")
        try await live.untilListed(["Café Músico", "Musical"])
        try await page.expectAccessible("words")
        // Own events, which the page itself looks through.
        try await live.add("Ma musique")
        try await page.click("[name=mine]")
        try await live.untilListed(["Ma musique"])
        try await page.evaluate(
            "const box = document.getElementById('words'); box.value = ''; box.dispatchEvent(new Event('input')); true")
        try await page.until("!\(Self.hash).includes('q=')")
    }

    @Test func `the box goes to a city and to coordinates, by keys alone`() async throws {
        let page = live.page
        try await live.open()
        try await page.focus("#words")
        try await page.type("munic")
        try await page.until("document.querySelector('#finds [role=option]')?.textContent === 'Munich'")
        try await page.key("ArrowDown", code: 40)
        #expect(try await page.evaluate("document.getElementById('words').getAttribute('aria-activedescendant')") == "find-0")
        try await page.expectAccessible("the suggestions")
        try await page.enter()
        try await page.until("document.getElementById('finds').hidden && \(Self.hash).includes('/48.1')")
        try await page.fill("#words", "48°12'N 16°22'E")
        try await page.focus("#words")
        try await page.enter()
        try await page.until("\(Self.hash).includes('/48.2') && document.getElementById('words').value === ''")
        #expect(try await page.evaluate("\(Self.hash).includes('q=')") == .bool(false))
    }

    @Test func `the calendar of a view has what the view has`() async throws {
        let page = live.page
        try await Self.create([("Jazz", "music", 30, 52.52), ("Chess", "games", 30, 52.52)])
        // One word more than a search takes.
        try await live.open("map=12/52.52/13.4&kind=music&q=jazz%20jaz%20ja%20j%20jazz%20jaz%20ja%20j%20x")
        try await live.untilListed(["Jazz"])
        let link = try await page.evaluate("document.querySelector('#subscription a').href").string ?? ""
        let path = try #require(link.split(separator: "webcal://127.0.0.1:\(live.port)").first.map(String.init))
        let feed = try await live.send("GET", path)
        #expect(feed.status == 200 && feed.body.contains("SUMMARY:Jazz") && !feed.body.contains("SUMMARY:Chess"))
        try await page.press(button: "Copy its address")
        try await page.until("document.getElementById('announcement').textContent !== ''")
    }

    @Test func `pins that would cover one another are one with their number, and divide where they have room`() async throws {
        let page = live.page
        // 170 m apart: 7 pixels at zoom 12, 57 at zoom 15.
        for (number, lat) in [52.52, 52.5215, 52.523].enumerated() {
            try await live.createEvent("Event \(number)", lat: lat, lon: 13.4)
        }
        try await live.open()
        try await live.untilListed(3)
        #expect(try await page.evaluate("document.querySelectorAll('.pin').length") == JSON(1))
        #expect(try await page.text(".pin.stack") == "3")
        try await page.click(".pin.stack")
        try await page.until("document.querySelectorAll('.pin:not(.stack)').length === 3")
    }

    @Test func `no pins cover one another at any zoom`() async throws {
        let page = live.page
        // A spiral of 120 events: from 20 m to 9 km, some of them in one place.
        for number in 0..<60 {
            let (away, angle) = (0.0002 * pow(1.1, Double(number)), Double(number) * 2.4)
            for _ in 0...(number % 3 == 0 ? 2 : 0) {
                try await live.createEvent("Event", lat: 52.52 + away * sin(angle), lon: 13.4 + 1.6 * away * cos(angle))
            }
        }
        try await page.resize(BrowserPage.phone.width, BrowserPage.phone.height, isMobile: true)
        try await live.open("map=9/52.52/13.4&when=any")
        for zoom in 9...18 {
            try await page.evaluate("location.hash = 'map=\(zoom)/52.52/13.4&when=any'")
            try await live.untilMap(zoom: zoom, lat: 52.52, lon: 13.4)
            try await page.until("document.querySelector('#map .pin') && !document.querySelector('.leaflet-zoom-anim')")
            let covered = try await page.evaluate(
                """
                [...document.querySelectorAll("#map .pin")].map((pin) => pin.getBoundingClientRect())
                    .map(({ x, y, width }) => ({ x: x + width / 2, y: y + width / 2, radius: width / 2 }))
                    .flatMap((one, index, all) => all.slice(0, index)
                        .filter((other) => Math.hypot(one.x - other.x, one.y - other.y) < one.radius + other.radius - 1)).length
                """)
            #expect(covered == JSON(0), "zoom \(zoom)")
        }
    }
}

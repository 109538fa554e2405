import Encoding
import Foundation
import TestServer
import Testing

@Suite(.live(), .serialized) struct `Live changes on the map page` {
    private static let heading = "document.querySelector('#details-view:not([hidden]) h2')?.textContent"

    private static func event(_ name: String, lat: Double = 52.52, lon: Double = 13.4) -> String {
        #"{"name":"\#(name)","lat":\#(lat),"lon":\#(lon),"started_at":"2037-01-01T20:00:00Z"}"#
    }

    @Test func `an event of another client appears, changes and goes without a reload`() async throws {
        try await live.open()
        try await live.page.evaluate("window.isSameDocument = true")
        let id = try await live.createEvent("Jazz night")
        try await live.untilListed(["Jazz night"])
        try await live.page.until("document.querySelectorAll('.pin').length === 1")
        try await live.openEvent("Jazz night")
        try await live.send("PUT", "/v1/events/\(id)/attendance")
        try await live.page.until("document.getElementById('attendance').textContent === '1 person attends.'")
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Blues night"))
        try await live.untilDetails("Blues night")
        // The page reads an open event again after a change, and must not give up the one that is being opened.
        let other = try await live.createEvent("Other", lat: 52.53)
        try await live.page.until("document.querySelectorAll('.pin').length === 2")
        try await live.page.evaluate(
            """
            const original = window.fetch;
            const held = new Promise((resolve) => { window.release = resolve; });
            window.fetch = async (path, ...rest) => {
                if (path === "/v1/events/\(other)") await held;
                return original(path, ...rest);
            };
            true
            """)
        try await live.page.click(".pin[data-name='Other']")
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Swing night"))
        try await live.page.until("document.querySelector(\".pin[data-name='Swing night']\")")
        try await live.page.evaluate("release(); true")
        try await live.untilDetails("Other")
        try await live.send("DELETE", "/v1/events/\(other)")
        try await live.page.until("\(Self.heading) === 'Cancelled: Other'")
        try await live.page.press(button: "← All events")
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Blues night"))
        try await live.untilListed(["Blues night"])
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Blues night", lat: 48.1, lon: 11.6))
        try await live.untilListed([])
        try await live.page.until("document.querySelectorAll('.pin').length === 0")
        #expect(try await live.page.evaluate("window.isSameDocument") == .bool(true))
    }

    @Test func `details are live while the map shows clusters, and where the map shows another place`() async throws {
        let page = live.page
        // Without inertia, so that the map ends where the mouse does.
        try await page.prefer("prefers-reduced-motion", "reduce")
        let id = try await live.createEvent("Jazz night")
        for number in 0..<70 { try await live.createEvent("Many", lat: 40 + Double(number) / 5) }
        try await live.open("map=4/50/13.4&when=any&event=\(id)")
        try await live.untilDetails("Jazz night")
        try await page.until("document.querySelector('#map .cluster')")
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Blues night"))
        try await live.untilDetails("Blues night")
        try await page.drag(x: 700, y: 500, by: -600)
        try await page.until("Number(location.hash.match(/map=4.[^/]*.([0-9]+)/)?.[1]) > 40")
        let place = try await page.evaluate("location.hash")
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Swing night"))
        try await live.untilDetails("Swing night")
        #expect(try await page.evaluate("location.hash") == place, "the map went back")
        // A reading that is refused leaves the details as they are.
        try await page.evaluate(
            """
            const original = window.fetch;
            window.refused = 0;
            window.fetch = async (path, ...rest) => {
                if (path !== "/v1/events/\(id)" || refused > 0) return original(path, ...rest);
                refused += 1;
                return new Response("{}", { status: 503 });
            };
            true
            """)
        try await live.send("PUT", "/v1/events/\(id)", Self.event("Bebop night"))
        try await page.until("refused === 1")
        // The comparison of every ten seconds can have come first, and then the page has the new name already.
        #expect(["Swing night", "Bebop night"].contains(try await page.text("#details-view h2")))
        #expect(try await page.evaluate("document.getElementById('details-view').hidden") == .bool(false))
        // They are compared with the event every ten seconds.
        try await live.untilDetails("Bebop night")
        try await live.send("DELETE", "/v1/events/\(id)")
        try await page.until("\(Self.heading) === 'Cancelled: Bebop night'")
        try await page.until("document.getElementById('announcement').textContent === 'This event is no longer there.'")
    }

    @Test func `the page says that the server is gone, and misses nothing when the server is back`() async throws {
        try await live.createEvent("Before", lat: 52.53)
        try await live.open()
        try await live.untilListed(["Before"])
        try await live.restart {
            try await live.page.until("document.getElementById('status').dataset.state === 'reconnecting'")
            #expect(try await live.page.text("#list strong") == "Before")
        } then: {
            try await live.createEvent("Meanwhile", lat: 52.515)
            try await live.page.until(LivePage.isLive)
            try await live.untilListed(["Before", "Meanwhile"])
        }
    }

    @Test func `the page notices a server that hangs, and misses nothing when the server answers again`() async throws {
        try await live.open()
        live.server.send(SIGSTOP)
        let result: Result<Void, any Error>
        do {
            result = .success(try await live.page.until("document.getElementById('status').dataset.state === 'reconnecting'"))
        } catch { result = .failure(error) }
        // In every case: a process that is stopped does not end.
        live.server.send(SIGCONT)
        try result.get()
        try await live.createEvent("Afterwards")
        try await live.page.until(LivePage.isLive)
        try await live.untilListed(["Afterwards"])
    }
}

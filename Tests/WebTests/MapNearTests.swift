import Encoding
import Testing

@Suite(.live(), .serialized) struct `What is near on the map page` {
    private static let title = "document.getElementById('list-title').textContent"

    @Test func `near me shows the visitor and widens to the next events, with their distances`() async throws {
        let page = live.page
        // 5.6 and 7.8 km to the north, and 56 km.
        try await live.createEvent("Five", lat: 52.55, lon: 13.4)
        try await live.createEvent("Eight", lat: 52.57, lon: 13.4)
        try await live.createEvent("Far", lat: 53, lon: 13.4)
        try await page.locate(lat: 52.5, lon: 13.4)
        try await live.open("map=14/48.1/11.5&when=any")
        try await page.click("#near")
        try await live.untilListed(["Five", "Eight"])
        try await page.until("document.querySelectorAll('.visitor').length === 1")
        #expect(try await page.text("#announcement") == "The nearest event is 5.6 km away.")
        #expect(try await page.text("#list .when").hasSuffix(" · 5.6 km"))
    }

    @Test func `near me stays close where something is close`() async throws {
        try await live.createEvent("Jazz night", lat: 52.501, lon: 13.4)
        try await live.page.locate(lat: 52.5, lon: 13.4)
        try await live.open("map=5/48.1/11.5&when=any")
        try await live.page.click("#near")
        try await live.untilMap(zoom: 12, lat: 52.5, lon: 13.4)
        // The list had the event before, farther from the middle of the map.
        try await live.page.until("document.querySelector('#list .when')?.textContent.endsWith(' · 110 m')")
    }

    @Test func `where nothing is in view the list has what is nearest, and the map stays until the visitor wants to see it`()
        async throws
    {
        let page = live.page
        try await live.createEvent("Jazz night", lat: 52.5, lon: 13.4)
        try await live.open("map=12/52/13.4&when=any")
        try await page.until("document.querySelector('#list [data-key^=near] .when')?.textContent.endsWith(' · 56 km')")
        #expect(try await page.text("#list-note") == "Nothing here. These are the nearest to the middle of the map:")
        #expect(try await page.evaluate("\(Self.title)") == "0 events in view")
        try await live.untilMap(zoom: 12, lat: 52, lon: 13.4)
        try await page.click("#list button")
        try await live.untilDetails("Jazz night")
        try await live.untilMap(zoom: 12, lat: 52.5, lon: 13.4)
    }
}

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

    @Test func `near me lists the nearest first, also above more events than a list has, and the order of times on request`()
        async throws
    {
        let page = live.page
        // More than are listed of a wide view.
        for number in 0..<61 { try await live.createEvent("Event", lat: 52.51 + Double(number) / 1_000, lon: 13.4) }
        try await live.createEvent("Nearest", lat: 52.501, lon: 13.4, at: "2038-01-01T20:00:00Z")
        try await page.locate(lat: 52.5, lon: 13.4)
        try await live.open("map=5/48.1/11.5&when=any")
        try await page.click("#near")
        let first = "document.querySelector('#list strong')?.textContent"
        try await page.until("\(first) === 'Nearest'")
        try await page.click("#order")
        try await page.until("\(first) === 'Event'")
        try await page.click("#order")
        try await page.until("\(first) === 'Nearest'")
        try await page.evaluate("location.hash = 'map=7/52.5/13.4&when=any'")
        try await page.until("document.querySelector('#list [data-key^=cluster]') && \(first) === 'Nearest'")
        #expect(try await page.evaluate("document.querySelectorAll('#list [data-key^=near]').length") == JSON(20))
        #expect(try await page.text("#list-note") == "These are the nearest to you:")
        // A change elsewhere counts the clusters again, and the nearest stay.
        try await live.createEvent("Even nearer", lat: 52.5001, lon: 13.4)
        try await page.until("\(first) === 'Even nearer'")
        try await page.click("#list [data-key^=near] button")
        try await live.untilDetails("Even nearer")
    }
}

import Encoding
import Testing

@Suite(.serialized) struct `Links to an event of the map page` {
    private static let isMarked = "document.querySelectorAll('.pin.selected').length === 1"

    @Test func `a link marks its event among clusters, beside the filter, and outside of its own view`() async throws {
        try await LivePage.with { live, _ in
            let page = live.page
            let id = try await live.createEvent("Jazz night", lat: 48.1, lon: 11.5)
            for number in 0..<70 { try await live.createEvent("Many", lat: 40 + Double(number) / 5) }
            // Without a view the link goes to the event's streets, also from another continent.
            try await page.zone("America/New_York")
            try await live.open("event=\(id)")
            try await live.untilDetails("Jazz night")
            try await live.untilMap(zoom: 15, lat: 48.1, lon: 11.5)
            try await page.until(Self.isMarked)
            try await live.open("map=5/50/11&when=any&event=\(id)")
            try await live.untilDetails("Jazz night")
            try await page.until("document.querySelector('#map .cluster') && \(Self.isMarked)")
            try await live.untilMap(zoom: 5, lat: 50, lon: 11)
            try await live.open("map=12/48.1/11.5&when=today&event=\(id)")
            try await live.untilDetails("Jazz night")
            try await page.until("document.querySelectorAll('.pin').length === 1 && \(Self.isMarked)")
            try await live.open("map=12/40.7/-74&when=any&event=\(id)")
            try await live.untilDetails("Jazz night")
            try await live.untilMap(zoom: 12, lat: 48.1, lon: 11.5)
            try await page.until(Self.isMarked)
            try await page.evaluate("document.querySelector('.back').click()")
            try await page.until("document.querySelectorAll('.pin.selected').length === 0")
        }
    }
}

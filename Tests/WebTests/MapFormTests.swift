import Encoding
import Testing

@Suite(.serialized) struct `The form of the map page` {
    @Test func `an event of another client that ends before its start is a moment`() async throws {
        try await LivePage.with { live, _ in
            let body =
                #"{"name":"Reversed","lat":52.52,"lon":13.4,"started_at":"2037-01-01T20:00:00Z","ended_at":"2020-01-01T20:00:00Z"}"#
            #expect(try await live.send("POST", "/v1/events", body).status == 200)
            try await live.open()
            try await live.untilListed(["Reversed"])
            #expect(try await live.page.text("#list h3") == "Later")
            #expect(try await live.page.text("#list time").contains("2020") == false)
        }
    }

    @Test func `an event that the filter hides is not said to be on the map`() async throws {
        try await LivePage.with { live, _ in
            let page = live.page
            try await live.open("map=12/52.52/13.4&when=today")
            try await page.click("#add")
            try await page.fill("#field-name", "Far future")
            try await page.fill("#field-started_at", "2037-05-05T20:00")
            try await page.press(button: "Add the event")
            try await live.untilDetails("Far future")
            try await page.until("document.getElementById('announcement').textContent.includes('choose “Any time”')")
        }
    }
}

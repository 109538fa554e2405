import Encoding
import Testing

@Suite(.live(), .serialized) struct `The form of the map page` {
    @Test func `an event of another client that ends before its start is a moment`() async throws {
        let body =
            #"{"name":"Reversed","lat":52.52,"lon":13.4,"started_at":"2037-01-01T20:00:00Z","ended_at":"2020-01-01T20:00:00Z"}"#
        #expect(try await live.send("POST", "/v1/events", body).status == 200)
        try await live.open()
        try await live.untilListed(["Reversed"])
        #expect(try await live.page.text("#list h3") == "Later")
        #expect(try await live.page.text("#list time").contains("2020") == false)
    }

    @Test func `an event's kind, description, link and zone are written, shown as text, changed and cleared`() async throws {
        let page = live.page
        try await live.open()
        try await page.click("#add")
        let written = [
            ("name", "Jazz night"), ("category", "music"), ("description", "Bring <b>chairs</b>.\nRain or shine."),
            ("link", "https://example.org/jazz?a=1&b=2"), ("time_zone", "Europe/Berlin"),
        ]
        for (field, text) in written { try await page.fill("#field-\(field)", text) }
        try await page.expectAccessible("the form with texts")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Jazz night")
        #expect(try await page.text("#details-view .description") == written[2].1)
        #expect(try await page.evaluate("document.querySelector('#details-view dd a').href") == .string(written[3].1))
        let shown = try await page.text("#details-view dl")
        #expect(shown.contains("KindMusic") && shown.contains("Europe/Berlin"), "\(shown)")
        try await page.expectAccessible("the details with texts")
        try await page.press(button: "Change")
        try await page.until("document.getElementById('field-category')?.value === 'music'")
        try await page.fill("#field-category", "")
        try await page.fill("#field-link", "javascript:alert(1)")
        try await page.press(button: "Save")
        try await page.until("document.getElementById('error-link').textContent === 'Link is not a valid web address'")
        try await page.fill("#field-link", "")
        try await page.press(button: "Save")
        try await page.until("document.querySelector('#details-view dl') && !document.querySelector('#details-view dd a')")
        #expect(try await page.text("#details-view .description") == written[2].1)
        #expect(!(try await page.text("#details-view dl").contains("Kind")))
    }

    @Test func `a link becomes an address in ASCII, and a description says how many characters it has left`() async throws {
        let page = live.page
        try await live.open()
        try await page.click("#add")
        try await page.fill("#field-name", "Reading")
        for (typed, link) in [
            ("bücher.example/straße?q=1|2", "https://xn--bcher-kva.example/stra%C3%9Fe?q=1%7C2"),
            ("example.org:8080", "https://example.org:8080/"), ("mailto:a@example.org", "mailto:a@example.org"),
        ] {
            try await page.fill("#field-link", typed)
            #expect(try await page.evaluate("document.getElementById('field-link').value") == .string(link))
        }
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-link').textContent === 'Link is not a valid web address'")
        try await page.fill("#field-link", "bücher.example")
        // Characters of two code units count as one. The eye sees the number at once, the ear hears it after a pause.
        let said = "document.querySelector('#form-view .hidden[role=status]').textContent"
        for (count, sentence) in [
            (3_500, "500 characters left."), (3_999, "1 character left."), (4_001, "1 character too many."),
        ] {
            let before = try await page.evaluate(said)
            let typing = """
                (field => {
                    field.value = "😀".repeat(\(count));
                    field.dispatchEvent(new Event("input", { bubbles: true }));
                    return \(said);
                })(document.getElementById("field-description"))
                """
            #expect(try await page.evaluate(typing) == before)
            #expect(try await page.text("#hint-description") == sentence)
            try await page.until("\(said) === '\(sentence)'")
        }
        try await page.press(button: "Add the event")
        try await page.until("document.getElementById('error-description').textContent === '1 character too many.'")
        try await page.expectAccessible("the form with a long description")
        try await page.fill("#field-description", String(repeating: "😀", count: 4_000))
        try await page.press(button: "Add the event")
        try await live.untilDetails("Reading")
        #expect(try await page.text("#details-view .description").unicodeScalars.count == 4_000)
        #expect(try await page.text("#details-view dd a") == "https://xn--bcher-kva.example/")
    }

    @Test func `an event that the filter hides is not said to be on the map`() async throws {
        let page = live.page
        try await live.open("map=12/52.52/13.4&when=today")
        try await page.click("#add")
        try await page.fill("#field-name", "Far future")
        // Times that are surely wrong lead to a question, others to none.
        let question = "document.getElementById('question').open && document.getElementById('question-text').textContent"
        for (start, end, field, words) in [
            ("2016-05-05T20:00", "", "started_at", "over: it starts on"),
            ("2062-05-05T20:00", "", "started_at", "in more than 20"),
            ("2016-05-05T20:00", "2037-05-05T20:00", "ended_at", "longer than a year"),
            ("2037-05-05T20:00", "2038-05-05T23:00", "ended_at", "longer than a year"),
        ] {
            try await page.fill("#field-started_at", start)
            try await page.fill("#field-ended_at", end)
            try await page.press(button: "Add the event")
            try await page.until("(\(question)).includes('\(words)')")
            try await page.press(button: "Correct it")
            // The browser may give the focus back before the page goes on.
            let isReady = "!document.querySelector('#form-view [type=submit]').disabled"
            try await page.until("\(isReady) && document.activeElement.id === 'field-\(field)'")
        }
        // One yes answers one question, the later of two.
        try await page.evaluate(Self.countingWrites)
        try await page.fill("#field-ended_at", "")
        try await page.fill("#field-started_at", "2016-05-05T20:00")
        try await page.press(button: "Add the event")
        try await page.until("(\(question)).includes('over: it starts on')")
        try await page.evaluate("history.back()")
        try await page.until("(\(question)).includes('Leave the form')")
        try await page.press(button: "Leave it")
        try await page.until("!document.getElementById('list-view').hidden")
        #expect(try await page.evaluate("writes") == JSON(0))
        try await page.click("#add")
        try await page.until("!document.getElementById('form-view').hidden")
        try await page.fill("#field-name", "Far future")
        let recent = """
            [-3, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 16))
            """
        let span = try await page.evaluate(recent).elements.compactMap(\.string)
        for (start, end) in [(span[0], span[1]), ("2037-05-05T20:00", "2037-10-05T20:00"), ("2037-05-05T20:00", "")] {
            #expect(
                try await page.evaluate(
                    """
                    import(document.body.dataset.assets + "/time.js").then(({ timeDoubts }) => timeDoubts(
                        { started_at: "\(start)", ended_at: "\(end)" || null }))
                    """) == [:], "\(start)")
        }
        try await page.fill("#field-started_at", "2037-05-05T20:00")
        try await page.fill("#field-ended_at", "")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Far future")
        try await page.until("document.getElementById('announcement').textContent.includes('what you chose above hides it')")
    }

    @Test func `a time of which a part is missing is not sent, neither with a new event nor with a change`() async throws {
        let page = live.page
        try await live.open()
        try await page.evaluate(Self.countingWrites)
        try await page.click("#add")
        try await page.fill("#field-name", "Night")
        try await page.fill("#field-ended_at", "2037-01-01T23:00")
        try await page.fill("#field-started_at", "2037-01-01T20:00")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Night")
        let stored = try await live.send("GET", "/v1/events/1").body
        for field in ["ended_at", "started_at"] {
            for isNew in [false, true] {
                if isNew { try await page.click("#add") } else { try await page.press(button: "Change") }
                try await page.fill("#field-name", "Late")
                // The day and the month of a date whose year and time are missing.
                try await page.evaluate("document.getElementById('field-\(field)').value = ''")
                try await page.evaluate("document.getElementById('field-\(field)').focus()")
                for _ in 0..<2 { try await page.key("1", code: 49, text: "1") }
                try await page.until("document.getElementById('field-\(field)').validity.badInput")
                try await page.press(button: isNew ? "Add the event" : "Save")
                try await page.until("document.getElementById('error-\(field)').textContent.startsWith('A part is missing')")
                #expect(try await page.evaluate("document.activeElement.id") == .string("field-\(field)"))
                try await page.key("Escape", code: 27)
                try await page.press(button: "Leave it")
                try await live.untilDetails("Night")
            }
        }
        #expect(try await page.evaluate("writes") == JSON(2), "the session and the first event")
        #expect(try await live.send("GET", "/v1/events/1").body == stored)
        // After a reload the form tells of half a time, although nothing was typed behind it.
        try await page.click("#add")
        try await page.fill("#field-name", "Late")
        try await page.evaluate("document.getElementById('field-ended_at').focus()")
        for _ in 0..<2 { try await page.key("1", code: 49, text: "1") }
        try await page.until("document.getElementById('field-ended_at').validity.badInput")
        try await page.evaluate("window.isOld = true; location.reload()")
        try await page.until("!window.isOld && document.getElementById('error-ended_at')?.textContent.includes('is lost')")
        #expect(try await page.evaluate("document.querySelectorAll('[aria-invalid]').length") == JSON(0))
    }

    /// Counts the writes of the page from then on.
    private static let countingWrites = """
        window.writes = 0;
        const original = window.fetch;
        window.fetch = (path, options) => {
            if (!["GET", "HEAD", undefined].includes(options?.method)) writes += 1;
            return original(path, options);
        };
        true
        """
}

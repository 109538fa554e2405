import Encoding
import Testing

@Suite(.serialized) struct `The history and the sizes of the map page` {
    private static let isList = "!document.getElementById('list-view').hidden"

    @Test(.live()) func `events that were opened and closed leave no entry in the history`() async throws {
        let page = live.page
        try await live.createEvent("Jazz night")
        try await live.open()
        try await live.untilListed(["Jazz night"])
        for _ in 0..<3 {
            try await live.openEvent("Jazz night")
            try await page.until("location.hash.includes('event=')")
            try await page.evaluate("document.querySelector('.back').click()")
            try await page.until("\(Self.isList) && !location.hash.includes('event=')")
        }
        // The browser's way back leads to the row, too, and the row stays there when the list is made again.
        for number in 0..<89 { try await live.createEvent("A name that needs two lines of the list, number \(number)") }
        try await live.untilListed(90)
        try await page.evaluate("document.querySelectorAll('#list li button')[69].click()")
        try await page.until("location.hash.includes('event=') && document.querySelector('#attendance')")
        try await page.evaluate("history.back()")
        let isBack = """
            document.activeElement?.closest("#list li") && document.getElementById("list").ariaBusy === "false"
                && ((row, panel) => row.top >= panel.top - 1 && row.bottom <= panel.bottom + 1)(
                    ...[document.activeElement, document.getElementById("panel")].map((e) => e.getBoundingClientRect()))
            """
        try await page.until(isBack)
        try await live.send("DELETE", "/v1/events/1")
        try await live.untilListed(89)
        try await page.until(isBack)
        try await page.evaluate("void setTimeout(() => history.back(), 50)")
        try await page.until("location.href === 'about:blank'")
    }

    @Test(.live()) func `the way back closes the form, and asks if only the place was chosen`() async throws {
        let page = live.page
        try await live.open()
        try await page.click("#add")
        try await page.until("location.hash.includes('form=1')")
        try await page.evaluate("history.back()")
        try await page.until("\(Self.isList) && !location.hash.includes('form=1')")
        try await page.click("#add")
        try await page.until("document.querySelector('.pin.draft')")
        try await page.click(x: 300, y: 300)
        try await page.until("sessionStorage.length === 1")
        try await page.evaluate("history.back()")
        try await page.press(button: "Go on writing")
        try await page.until("location.hash.includes('form=1')")
        try await page.evaluate("history.back()")
        try await page.press(button: "Leave it")
        try await page.until("\(Self.isList) && sessionStorage.length === 0")
    }

    /// Whether each field and the button come to the screen when the page scrolls to it, and nothing is wider than the screen.
    private static let isUsable = """
        [...document.querySelectorAll("#form-view :is(input, textarea, select, [type=submit])")].filter((field) => field.checkVisibility()).every((field) => {
            field.scrollIntoView({ block: "center" });
            const { x, y, width, height } = field.getBoundingClientRect();
            return document.elementFromPoint(x + width / 2, y + height / 2) === field;
        }) && document.documentElement.scrollWidth <= innerWidth
        """

    @Test(.live()) func `the form can be used at 200 and at 400 percent`() async throws {
        for (width, height) in [(640, 400), (320, 200)] {
            try await live.page.resize(width, height)
            try await live.open()
            try await live.page.click("#add")
            try await live.page.until(Self.isUsable)
            // The next document begins with the list.
            try await live.page.key("Escape", code: 27)
            try await live.page.until(Self.isList)
        }
    }

    @Test(.live(["--blink-settings=defaultFontSize=32"])) func `large system text fits a phone`() async throws {
        try await live.page.resize(BrowserPage.phone.width, BrowserPage.phone.height)
        try await live.open()
        try await live.page.until("document.getElementById('list-title').textContent === 'No events yet'")
        let isWider = try await live.page.evaluate(
            "[...document.querySelectorAll('header *, #search *, #panel *')].filter((e) => e.getBoundingClientRect().right > innerWidth).map((e) => e.outerHTML)"
        )
        #expect(isWider == [], "wider than a phone")
        try await live.page.until("document.documentElement.scrollWidth <= innerWidth", within: .seconds(3))
        try await live.page.click("#add")
        try await live.page.until(Self.isUsable, within: .seconds(3))
    }
}

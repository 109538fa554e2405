import Encoding
import TestServer
import Testing

@Suite(.live(), .serialized) struct `Access to the map page` {
    @Test func `on a phone the map is above the list, nothing is wider, and no message takes a tap`() async throws {
        let page = live.page
        try await live.createEvent("A name that is much longer than the screen of a phone is wide, for whatever reason")
        try await page.resize(BrowserPage.phone.width, BrowserPage.phone.height, isMobile: true)
        try await live.open()
        try await live.untilListed(1)
        let isBelow =
            "document.getElementById('panel').getBoundingClientRect().top >= document.getElementById('map').getBoundingClientRect().bottom"
        let isNarrow = "document.documentElement.scrollWidth === \(BrowserPage.phone.width)"
        #expect(try await page.evaluate(isBelow) == .bool(true))
        #expect(try await page.evaluate(isNarrow) == .bool(true), "the list")
        // No state of the connection moves the page.
        for (width, height) in [
            (320, 640), (700, 500), (800, 600), (1000, 700), (1030, 700), (1160, 700), (1200, 800), BrowserPage.phone,
        ] {
            try await page.resize(width, height, isMobile: width < 600)
            #expect(try await page.evaluate(LivePage.isMovedByStates) == .bool(false), "\(width)")
        }
        try await page.click("#list button")
        try await page.until("!document.getElementById('details-view').hidden")
        #expect(try await page.evaluate(isNarrow) == .bool(true), "the details")
        try await page.click("#add")
        try await page.until("document.querySelector('#form-view form')")
        #expect(try await page.evaluate(isNarrow) == .bool(true), "the form")
        try await page.fill("#field-name", "Own")
        try await page.press(button: "Add the event")
        try await live.untilDetails("Own")
        let isFree = """
            (() => {
                const said = document.getElementById("announcement");
                const panel = document.getElementById("panel").getBoundingClientRect();
                const isAbove = said.getBoundingClientRect().bottom <= panel.top;
                return said.textContent !== "" && isAbove && getComputedStyle(said).pointerEvents === "none";
            })()
            """
        try await page.until(isFree)
        // The offer to add an event is whole at the edges.
        for x in [4, BrowserPage.phone.width - 4] {
            try await live.open()
            try await page.click(x: x, y: 330)
            try await page.until(
                """
                (({ left, right }) => left >= 0 && right <= innerWidth)(
                    document.querySelector(".offer button").getBoundingClientRect())
                """)
        }
        // Here is where the visitor is.
        try await page.locate(lat: 48.1375, lon: 11.5755)
        try await live.open()
        try await page.click("#add")
        try await page.press(button: "Here, where I am")
        try await page.until("document.getElementById('field-lat').value === '48.1375'")
        try await page.until("location.hash.includes('map=15/48.1')")
    }

    @Test func `axe finds nothing serious in light and dark, and the page is dark where the viewer's system is`() async throws {
        let page = live.page
        try await live.createEvent("Jazz night")
        for number in 0..<70 { try await live.createEvent("Many", lat: Double(number) / 2) }
        // Another scheme has other colours, and nothing else.
        for (scheme, colours) in [("light", Bool?.none), ("dark", true)] {
            try await page.prefer("prefers-color-scheme", scheme)
            try await live.open()
            let part = "document.body && getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g)"
            try await page.until("\(part).every(part => Number(part) < 64) === \(scheme == "dark")")
            try await live.untilListed(1)
            try await page.expectAccessible("the list, \(scheme)", colours: colours)
            try await live.openEvent("Jazz night")
            try await page.expectAccessible("the details, \(scheme)", colours: colours)
            try await page.click("#add")
            try await page.press(button: "Add the event")
            try await page.until("document.querySelector('[aria-invalid]')")
            try await page.expectAccessible("the form with errors, \(scheme)", colours: colours)
            try await page.key("Escape", code: 27)
            try await live.open("map=3/25/10&when=any")
            try await page.until("document.querySelector('#list .cluster')")
            try await page.expectAccessible("the clusters, \(scheme)", colours: colours)
        }
    }

    @Test func `a keyboard reaches filters, map, list and details, and the focus comes back to the event`() async throws {
        let page = live.page
        try await live.createEvent("Jazz night")
        try await live.open()
        try await live.untilListed(1)
        try await page.tab(to: "e.className === 'skip'")
        try await page.tab(to: "e.id === 'add'")
        try await page.tab(to: "e.id === 'words'")
        try await page.tab(to: "e.name === 'mine'")
        try await page.tab(to: "e.name === 'when'")
        try await page.tab(to: "e.name === 'kind'")
        try await page.tab(to: "e.id === 'map'")
        let before = try await page.evaluate("location.hash").text
        try await page.key("ArrowDown", code: 40)
        try await page.until("JSON.stringify(location.hash) !== \(JSON.string(before).text)")
        try await page.tab(to: "e.closest('#list') && e.textContent.includes('Jazz night')")
        try await page.until("document.querySelectorAll('.pin.hinted').length === 1")
        try await page.enter()
        try await live.untilDetails("Jazz night")
        try await page.until("document.activeElement.tagName === 'H2'")
        try await page.key("Escape", code: 27)
        try await page.until("document.activeElement.closest('#list')?.textContent.includes('Jazz night')")
        // Enter on the map takes its middle.
        func place() async throws -> String {
            try await page.evaluate("document.getElementById('field-lon').value").string ?? ""
        }
        let said = "document.getElementById('announcement').textContent"
        try await page.evaluate("document.getElementById('map').focus()")
        try await page.enter()
        try await page.until("document.querySelector('.pin.draft') && \(said).startsWith('The place is 52.')")
        #expect(try await page.evaluate("document.activeElement.id") == "form-title")
        let first = try await place()
        try await page.evaluate("document.getElementById('map').focus()")
        let hash = try await page.evaluate("location.hash").text
        try await page.key("ArrowRight", code: 39)
        try await page.until("JSON.stringify(location.hash) !== \(JSON.string(hash).text)")
        try await page.until("!document.querySelector('.leaflet-pan-anim')")
        try await page.enter()
        try await page.until("document.getElementById('field-lon').value !== '\(first)'")
        #expect(try await page.evaluate(said).string?.hasSuffix(" \(try await place()).") == true)
        #expect(try await page.evaluate("document.activeElement.id") == "map")
    }

    @Test func `the view has names for a screen reader, titles, pins that take a tap, and a skip link`() async throws {
        let page = live.page
        try await live.open()
        let titled = "document.querySelector('[aria-live=polite]').textContent"
        let id = try await live.createEvent("Jazz night")
        try await page.until("\(titled) === '1 event in view'")
        #expect(try await page.evaluate("document.getElementById('status').getAttribute('role')") == "status")
        let unlabelled =
            """
            [...document.querySelectorAll("input, button, section, form, #map")]
                .filter(e => !(e.ariaLabel || e.labels?.length || e.getAttribute("aria-labelledby") || e.textContent.trim()))
                .map(e => e.outerHTML).join()
            """
        #expect(try await page.evaluate(unlabelled) == "")
        try await page.until("document.querySelector('.pin') && document.title === 'Humon: events near you'")
        let takes = """
            (pin => {
                const { x, y, width, height } = pin.getBoundingClientRect();
                const [middleX, middleY] = [x + width / 2, y + height / 2];
                return [[-11, 0], [11, 0], [0, -11], [0, 11]].every(
                    ([dx, dy]) => document.elementFromPoint(middleX + dx, middleY + dy) === pin);
            })(document.querySelector(".pin"))
            """
        try await page.until(takes)
        try await live.openEvent("Jazz night")
        try await page.until("document.title === 'Jazz night · Humon'")
        try await page.click("#add")
        try await page.until("document.title === 'Add an event · Humon'")
        try await page.key("Escape", code: 27)
        try await page.until("document.title === 'Jazz night · Humon'")
        try await page.key("Escape", code: 27)
        try await page.until("document.title === 'Humon: events near you'")
        // The skip link moves the focus to the panel, and changes nothing else.
        try await live.open("map=12/52.52/13.4&when=week&event=\(id)")
        try await live.untilDetails("Jazz night")
        let address = try await page.evaluate("location.hash")
        // A change of the address would be heard in a task of its own.
        let skip = """
            document.querySelector(".skip").click();
            new Promise((resolve) => setTimeout(() => resolve([document.activeElement.id, location.hash]), 200))
            """
        #expect(try await page.evaluate(skip) == ["panel", address])
        #expect(try await page.text("#details-view:not([hidden]) h2") == "Jazz night")
        try await page.click("#add")
        try await page.fill("#field-name", "Blues night")
        try await page.evaluate(skip)
        #expect(try await page.evaluate("document.getElementById('question').open") == .bool(false))
        // Without scripts the page explains itself below its title, and shows nothing that would not work.
        try await page.key("Escape", code: 27)
        try await page.press(button: "Leave it")
        try await page.send("Emulation.setScriptExecutionDisabled", ["value": .bool(true)])
        try await live.open(untilLive: false)
        try await page.until("document.querySelector('noscript p')?.getBoundingClientRect().top < 120")
        let dead = "[...document.querySelectorAll('button, input')].filter((e) => e.checkVisibility()).length"
        #expect(try await page.evaluate(dead) == JSON(0))
        try await page.send("Emulation.setScriptExecutionDisabled", ["value": .bool(false)])
    }
}

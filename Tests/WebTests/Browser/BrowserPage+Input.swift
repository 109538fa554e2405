import Encoding

/// Keyboard, mouse, network and place of the visitor.
extension BrowserPage {
    func type(_ text: String) async throws { try await send("Input.insertText", ["text": .string(text)]) }

    func key(_ name: String, code: Int, text: String = "") async throws {
        var event: JSON = ["type": "keyDown", "key": .string(name), "code": .string(name), "windowsVirtualKeyCode": JSON(code)]
        if !text.isEmpty { event = event.adding("text", .string(text)) }
        try await send("Input.dispatchKeyEvent", event)
        try await send("Input.dispatchKeyEvent", event.adding("type", "keyUp"))
    }

    func enter() async throws { try await key("Enter", code: 13, text: "\r") }

    /// Presses the tabulator until the focus is on an element for which the expression, about `document.activeElement` as `e`, is true.
    func tab(to condition: String, limit: Int = 60, line: Int = #line) async throws {
        for _ in 0..<limit {
            try await key("Tab", code: 9)
            if try await evaluate("(e => Boolean(\(condition)))(document.activeElement)") == .bool(true) { return }
        }
        throw ScriptError(description: "\(limit) tabulators did not lead to \(condition), line \(line)")
    }

    // MARK: Mouse

    /// Clicks a point of the screen.
    func click(x: Int, y: Int) async throws {
        try await mouse("mousePressed", x, y)
        try await mouse("mouseReleased", x, y)
    }

    /// Clicks the middle of an element, or of the label around it, as a finger does. Throws if it is not on the screen, or something covers it.
    func tap(_ selector: String) async throws {
        let name = JSON.string(selector).text
        try await until("document.querySelector(\(name))")
        let point = try await evaluate(
            """
            ((part) => {
                const { x, y, width, height } = part.getBoundingClientRect();
                const point = [x + width / 2, y + height / 2].map(Math.round);
                return part.contains(document.elementFromPoint(...point)) ? point.join(" ") : null;
            })((part => part.closest("label") ?? part)(document.querySelector(\(name))))
            """)
        let numbers = (point.string ?? "").split(separator: " ").compactMap { Int($0) }
        guard numbers.count == 2 else { throw ScriptError(description: "nobody can tap \(selector)") }
        try await click(x: numbers[0], y: numbers[1])
    }

    /// Drags from a point by a distance, in pixels.
    func drag(x: Int, y: Int, by distance: Int) async throws {
        try await mouse("mousePressed", x, y)
        for step in 1...10 { try await mouse("mouseMoved", x + distance * step / 10, y) }
        try await mouse("mouseReleased", x + distance, y)
    }

    private func mouse(_ kind: String, _ x: Int, _ y: Int) async throws {
        try await send(
            "Input.dispatchMouseEvent",
            ["type": .string(kind), "x": JSON(x), "y": JSON(y), "button": "left", "buttons": JSON(1), "clickCount": JSON(1)])
    }

    // MARK: Network and place

    /// Cuts the network, or makes each answer late.
    func network(isOffline: Bool = false, latencyMilliseconds: Int = 0) async throws {
        try await send(
            "Network.emulateNetworkConditions",
            [
                "offline": .bool(isOffline), "latency": JSON(latencyMilliseconds), "downloadThroughput": JSON(-1),
                "uploadThroughput": JSON(-1),
            ])
    }

    func locate(lat: Double, lon: Double) async throws {
        try await browser("Browser.grantPermissions", ["permissions": ["geolocation"]])
        try await send(
            "Emulation.setGeolocationOverride",
            ["latitude": .number("\(lat)"), "longitude": .number("\(lon)"), "accuracy": JSON(10)])
    }

    func zone(_ name: String, locale: String = "en-GB") async throws {
        try await send("Emulation.setTimezoneOverride", ["timezoneId": .string(name)])
        try await send("Emulation.setLocaleOverride", ["locale": .string(locale)])
    }
}

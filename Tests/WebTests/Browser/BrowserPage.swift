import Encoding
import Foundation
import TestDatabase
import Testing

/// A page in a browser of its own.
struct BrowserPage: Sendable {
    private let pipe: DevToolsPipe
    private let session: String

    struct ScriptError: Error, CustomStringConvertible { let description: String }

    /// The size of a phone.
    static let phone = (width: 390, height: 800)

    /// Starts a browser, runs the body, and ends the browser. Then expects that no script failed, that nothing was blocked, and that no
    /// script wrote an error.
    /// - Parameter arguments: of Chromium
    static func with(
        _ arguments: [String] = [], in directory: URL, _ body: @Sendable (BrowserPage) async throws -> Void
    ) async throws {
        let pipe = try DevToolsPipe(profile: directory.appending(path: "browser-\(UUID().uuidString.prefix(8))"), arguments)
        defer { pipe.stop() }
        let targets = try await pipe.send("Target.getTargets")["targetInfos"]?.elements ?? []
        let target = try #require(targets.first { $0["type"] == "page" }?["targetId"])
        let attached = try await pipe.send("Target.attachToTarget", ["targetId": target, "flatten": .bool(true)])
        let page = BrowserPage(pipe: pipe, session: try #require(attached["sessionId"]?.string))
        for domain in ["Page", "Runtime", "Log", "Network"] { try await page.send("\(domain).enable") }
        try await page.resize(1200, 800)
        try await body(page)
        // A command to and fro: all events before its result have come.
        try await page.send("Runtime.evaluate", ["expression": "1"])
        let complaints = pipe.takeEvents().compactMap(Self.complaint)
        #expect(complaints == [])
    }

    /// A failed script, a blocked file, or an error on the console. A refused request is none: scripts handle it.
    private static func complaint(_ event: JSON) -> String? {
        let parameters = event["params"]
        switch event["method"] {
        case "Runtime.exceptionThrown": return parameters?["exceptionDetails"]?.text
        case "Runtime.consoleAPICalled":
            return ["error", "assert", "warning"].contains(parameters?["type"]?.string) ? parameters?["args"]?.text : nil
        case "Log.entryAdded":
            let entry = parameters?["entry"]
            return entry?["source"] == "network" ? nil : entry?["text"]?.string
        default: return nil
        }
    }

    @discardableResult
    func send(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await pipe.send(method, parameters, session: session)
    }

    /// Forgets what the browser complained about so far, when a test provoked it.
    func discardComplaints() async throws {
        try await send("Runtime.evaluate", ["expression": "1"])
        _ = pipe.takeEvents()
    }

    func open(_ url: String) async throws { try await send("Page.navigate", ["url": .string(url)]) }

    func resize(_ width: Int, _ height: Int, isMobile: Bool = false) async throws {
        try await send(
            "Emulation.setDeviceMetricsOverride",
            ["width": JSON(width), "height": JSON(height), "deviceScaleFactor": JSON(1), "mobile": .bool(isMobile)])
    }

    func prefer(_ feature: String, _ value: String) async throws {
        try await send("Emulation.setEmulatedMedia", ["features": [["name": .string(feature), "value": .string(value)]]])
    }

    /// The value of an expression, or of the promise that it makes.
    @discardableResult
    func evaluate(_ script: String) async throws -> JSON {
        let result = try await send(
            "Runtime.evaluate",
            ["expression": .string(script), "awaitPromise": .bool(true), "returnByValue": .bool(true)])
        if let error = result["exceptionDetails"] { throw ScriptError(description: "\(script): \(error.text)") }
        return result["result"]?["value"] ?? .null
    }

    /// Waits until an expression is true.
    func until(_ condition: String, fileID: String = #fileID, line: Int = #line) async throws {
        try await eventually("\(condition) in the page", every: .milliseconds(50), fileID: fileID, line: line) {
            // A page that is being loaded has no document to ask.
            (try? await evaluate("Boolean(\(condition))")) == .bool(true)
        }
    }

    func text(_ selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(JSON.string(selector).text))?.innerText ?? ''").string ?? ""
    }

    func click(_ selector: String) async throws {
        try await until("document.querySelector(\(JSON.string(selector).text))")
        try await evaluate("document.querySelector(\(JSON.string(selector).text)).click()")
    }

    /// Clicks the button with this text.
    func press(button text: String) async throws {
        let button =
            "[...document.querySelectorAll('button')].find(b => b.checkVisibility() && b.innerText.includes(\(JSON.string(text).text)))"
        try await until(button)
        try await evaluate("\(button).click()")
    }

    func fill(_ selector: String, _ text: String) async throws {
        try await evaluate("document.querySelector(\(JSON.string(selector).text)).value = \(JSON.string(text).text)")
    }

    // MARK: Keyboard

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
}

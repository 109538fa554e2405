import Encoding
import Foundation
import Synchronization
import TestDatabase
import Testing

/// A page in a context of its own: with cookies, storage and permissions that no other page has.
struct BrowserPage: Sendable {
    private let pipe: DevToolsPipe
    private let context: JSON
    private let session: String

    struct ScriptError: Error, CustomStringConvertible { let description: String }

    /// The size of a phone.
    static let phone = (width: 390, height: 800)

    /// Opens a context in the browser that all tests share, or in a browser of its own if it needs arguments or preferences. Runs the
    /// body, and closes the context. Then expects that no script failed, that nothing was blocked, and that no script wrote an error.
    /// - Parameters:
    ///   - arguments: of Chromium
    ///   - preferences: of its profile, as JSON
    static func with(
        _ arguments: [String] = [], preferences: String? = nil, in directory: URL,
        _ body: @Sendable (BrowserPage) async throws -> Void
    ) async throws {
        if arguments.isEmpty, preferences == nil { return try await with(SharedBrowser.shared.pipe(), body) }
        let profile = directory.appending(path: "browser-\(UUID().uuidString.prefix(8))")
        if let preferences {
            let folder = profile.appending(path: "Default")
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            try Data(preferences.utf8).write(to: folder.appending(path: "Preferences"))
        }
        let pipe = try DevToolsPipe(profile: profile, arguments)
        let result: Result<Void, any Error>
        do { result = .success(try await with(pipe, body)) } catch { result = .failure(error) }
        await pipe.stop()
        try result.get()
    }

    private static func with(_ pipe: DevToolsPipe, _ body: @Sendable (BrowserPage) async throws -> Void) async throws {
        _ = pipe.takeEvents()
        let context = try #require(try await pipe.send("Target.createBrowserContext")["browserContextId"])
        let result: Result<Void, any Error>
        do { result = .success(try await with(pipe, context, body)) } catch { result = .failure(error) }
        _ = try? await pipe.send("Target.disposeBrowserContext", ["browserContextId": context])
        try result.get()
    }

    private static func with(
        _ pipe: DevToolsPipe, _ context: JSON, _ body: @Sendable (BrowserPage) async throws -> Void
    ) async throws {
        let opened = try await pipe.send("Target.createTarget", ["url": "about:blank", "browserContextId": context])
        let target = try #require(opened["targetId"])
        let attached = try await pipe.send("Target.attachToTarget", ["targetId": target, "flatten": .bool(true)])
        let page = BrowserPage(pipe: pipe, context: context, session: try #require(attached["sessionId"]?.string))
        for domain in ["Page", "Runtime", "Log", "Network"] { try await page.send("\(domain).enable") }
        try await page.send("Page.bringToFront")
        try await page.resize(1200, 800)
        try await body(page)
        // A command to and fro: all events before its result have come.
        try await page.send("Runtime.evaluate", ["expression": "1"])
        let complaints = pipe.takeEvents().filter(page.isOwn).compactMap(Self.complaint)
        #expect(complaints == [])
    }

    /// The browser tells the events of all its pages.
    private func isOwn(_ event: JSON) -> Bool { event["sessionId"]?.string == session }

    /// Sources of entries that say what the page did wrong. Others (deprecation, recommendation, rendering, …) change with the browser's
    /// version, and a refused request (network) is handled by the page.
    private static let sourcesOfFaults: Set = ["javascript", "security", "worker", "xml"]

    /// A failed script, a blocked file, or an error that a script wrote.
    private static func complaint(_ event: JSON) -> String? {
        let parameters = event["params"]
        switch event["method"] {
        case "Runtime.exceptionThrown": return parameters?["exceptionDetails"]?.text
        case "Runtime.consoleAPICalled":
            return ["error", "assert", "warning"].contains(parameters?["type"]?.string) ? parameters?["args"]?.text : nil
        case "Log.entryAdded":
            let entry = parameters?["entry"]
            let isFault = entry?["level"] == "error" && sourcesOfFaults.contains(entry?["source"]?.string ?? "")
            return isFault ? entry?["text"]?.string : nil
        default: return nil
        }
    }

    @discardableResult
    func send(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await pipe.send(method, parameters, session: session)
    }

    /// A command to the browser about the page's context.
    @discardableResult
    func browser(_ method: String, _ parameters: JSON = [:]) async throws -> JSON {
        try await pipe.send(method, parameters.adding("browserContextId", context))
    }

    /// Forgets what the browser complained about so far, when a test provoked it.
    func discardComplaints() async throws {
        try await send("Runtime.evaluate", ["expression": "1"])
        _ = pipe.takeEvents()
    }

    /// Events of the protocol with this name, since the last look at the complaints.
    func events(_ method: String) async throws -> [JSON] {
        try await send("Runtime.evaluate", ["expression": "1"])
        return heard(method)
    }

    /// The same without a question to the page, which gives no answer while its document is being loaded.
    func heard(_ method: String) -> [JSON] {
        pipe.events.filter { isOwn($0) && $0["method"]?.string == method }.compactMap { $0["params"] }
    }

    /// Opens a URL in a new document. Two URLs that differ in their fragments only would be one document.
    func open(_ url: String) async throws {
        try await send("Page.navigate", ["url": "about:blank"])
        try await send("Page.navigate", ["url": .string(url)])
    }

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
    func until(
        _ condition: String, within limit: Duration = .seconds(30), fileID: String = #fileID, line: Int = #line
    ) async throws {
        try await eventually(
            "\(condition) in the page", within: limit, every: .milliseconds(50), fileID: fileID, line: line
        ) {
            // A page that is being loaded has no document to ask.
            (try? await evaluate("Boolean(\(condition))")) == .bool(true)
        }
    }

    func text(_ selector: String) async throws -> String {
        try await evaluate("document.querySelector(\(JSON.string(selector).text))?.textContent ?? ''").string ?? ""
    }

    func click(_ selector: String) async throws {
        try await until("document.querySelector(\(JSON.string(selector).text))")
        try await evaluate("document.querySelector(\(JSON.string(selector).text)).click()")
    }

    /// Clicks the visible button with exactly this text.
    func press(button text: String, line: Int = #line) async throws {
        // One whose work is not done takes no click.
        let isMeant = "b.checkVisibility() && b.ariaDisabled !== 'true' && b.textContent === \(JSON.string(text).text)"
        let button = "[...document.querySelectorAll('button')].find(b => \(isMeant))"
        try await until(button, line: line)
        try await evaluate("\(button).click()")
    }

    func focus(_ selector: String) async throws {
        try await until("document.querySelector(\(JSON.string(selector).text))")
        try await evaluate("document.querySelector(\(JSON.string(selector).text)).focus(); true")
    }

    /// Writes into a field as a visitor does: scripts hear of it.
    func fill(_ selector: String, _ text: String) async throws {
        try await evaluate(
            """
            (field => {
                field.value = \(JSON.string(text).text);
                for (const name of ["input", "change"]) field.dispatchEvent(new Event(name, { bubbles: true }));
            })(document.querySelector(\(JSON.string(selector).text)))
            """)
    }
}

/// The browser of all tests of this process. It starts with the first test, and again if it ended.
private actor SharedBrowser {
    static let shared = SharedBrowser()
    private var running: DevToolsPipe?

    func pipe() throws -> DevToolsPipe {
        if let running, !running.isClosed { return running }
        let profile = FileManager.default.temporaryDirectory.appending(path: "humon-browser-\(UUID().uuidString.prefix(8))")
        let pipe = try DevToolsPipe(profile: profile)
        running = pipe
        leftover.withLock { $0 = (pipe, profile) }
        atexit {
            leftover.withLock { $0 }.map {
                $0.pipe.kill(); try? FileManager.default.removeItem(at: $0.profile)
            }
        }
        return pipe
    }
}

private let leftover = Mutex<(pipe: DevToolsPipe, profile: URL)?>(nil)

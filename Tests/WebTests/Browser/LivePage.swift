import App
import Encoding
import EventStore
import Foundation
import TestDatabase
import TestFixture
import TestServer
import Testing

extension Trait where Self == Fixture<LivePage> {
    /// A server, a browser and another client: ``live``. The arguments are those of `LivePage.with`.
    static func live(
        _ arguments: [String] = [], preferences: String? = nil, environment: [String: String] = [:]
    ) -> Self {
        Self { try await LivePage.with(arguments, preferences: preferences, environment: environment, $0) }
    }
}

var live: LivePage { Fixture.current }

/// `humon serve` on a database of its own, a browser, and another client of the API.
struct LivePage: Sendable {
    let page: BrowserPage
    let server: HumonProcess
    let port: Int
    let directory: URL
    let database: TestDatabase
    /// The other client.
    let token: String

    var address: String { "http://127.0.0.1:\(port)" }

    /// The environment of a server on a database.
    static func environment(_ database: TestDatabase, port: Int = 0) -> [String: String] {
        ["DATABASE_URL": database.url, "TB_APP_SECRET": HumonProcess.secret, "HUMON_PORT": String(port)]
    }

    /// - Parameters:
    ///   - arguments: of Chromium
    ///   - preferences: of its profile, as JSON
    ///   - environment: of the server, besides the database and the secret
    static func with(
        _ arguments: [String] = [], preferences: String? = nil, environment: [String: String] = [:],
        _ body: @Sendable (LivePage) async throws -> Void
    ) async throws {
        try await Capacity.browsers.use {
            try await TestDatabase.with(StoredModule.all.projections) { database in
                try await HumonProcess.withDirectory { directory in
                    let fixed = try RawConnection.freePorts(1)[0]
                    let environment = self.environment(database, port: fixed).merging(environment) { $1 }
                    try await HumonProcess.withServer(in: directory, environment: environment) { server, port in
                        let user = try await exchange(
                            "POST", "http://127.0.0.1:\(port)/v1/users", headers: [("tb-app-secret", HumonProcess.secret)])
                        let token = try #require(try JSON(utf8: user.body.utf8)["device_token"]?.string)
                        try await BrowserPage.with(arguments, preferences: preferences, in: directory) { page in
                            try await body(
                                LivePage(
                                    page: page, server: server, port: port, directory: directory, database: database, token: token
                                ))
                        }
                    }
                }
            }
        }
    }

    static let isLive = "document.getElementById('status')?.dataset.state === 'live'"

    /// Whether a message about the connection moves the page, or is wider than the map.
    static let isMovedByStates = """
        Promise.all(["dom", "texts"].map((name) => import(`${document.body.dataset.assets}/${name}.js`))).then(([dom, { text }]) => {
            const states = ["reconnecting", "offline", "delayed", "failed", "live"];
            const [map, status] = ["map-section", "status"].map((id) => document.getElementById(id));
            const tops = states.map((state) => {
                dom.showStatus(state, text("error.status.503"));
                const [{ top, right, left }, box] = [map, status].map((part) => part.getBoundingClientRect());
                return box.left >= left && box.right <= right ? top : null;
            });
            return tops.includes(null) || new Set(tops).size > 1;
        })
        """

    /// Opens the map in a new document.
    /// - Parameter language: `nil` for that of the browser
    func open(
        _ place: String = "map=12/52.52/13.4&when=any", language: String? = nil, untilLive: Bool = true
    ) async throws {
        try await page.open("\(address)/\(language.map { "?lang=\($0)" } ?? "")#\(place)")
        if untilLive { try await page.until(Self.isLive) }
    }

    /// Kills the server, runs the body, and starts the server again at the same port, for the rest of the test.
    func restart(while body: () async throws -> Void, then rest: () async throws -> Void) async throws {
        server.send(SIGKILL)
        _ = try await server.untilExit()
        try await body()
        let again = try HumonProcess(["serve"], in: directory, environment: Self.environment(database, port: port))
        let result: Result<Void, any Error>
        do {
            _ = try await again.port()
            result = .success(try await rest())
        } catch { result = .failure(error) }
        // The page keeps a stream open, which the server must end.
        #expect(try await again.stop() == 0)
        try result.get()
    }

    /// The other client creates an event near the middle of the map.
    @discardableResult
    func createEvent(
        _ name: String, lat: Double = 52.525, lon: Double = 13.405, at time: String = "2037-01-01T20:00:00Z",
        zone: String? = nil
    ) async throws -> Int {
        let zone = zone.map { #","time_zone":"\#($0)""# } ?? ""
        let body = #"{"name":"\#(name)","lat":\#(lat),"lon":\#(lon),"started_at":"\#(time)"\#(zone)}"#
        let answer = try await send("POST", "/v1/events", body)
        return try #require(try JSON(utf8: answer.body.utf8)["id"]?.integer)
    }

    /// The visitor adds an event by the form.
    func add(_ name: String, line: Int = #line) async throws {
        try await page.click("#add")
        try await page.fill("#field-name", name)
        try await page.press(button: "Add the event")
        try await untilDetails(name, line: line)
    }

    /// The other client sends a request.
    @discardableResult
    func send(_ method: String, _ path: String, _ body: String = "") async throws -> (status: Int, body: String) {
        let headers = [("tb-device-token", token), ("content-type", "application/json")]
        let answer = try await exchange(method, address + path, headers: headers, body: body)
        return (answer.status, answer.body)
    }

    /// Waits until the list shows this many events.
    func untilListed(_ count: Int, line: Int = #line) async throws {
        try await page.until("document.querySelectorAll('#list [data-key^=event]').length === \(count)", line: line)
    }

    /// Waits until the list shows exactly these events, in this order.
    func untilListed(_ names: [String], line: Int = #line) async throws {
        let expected = JSON.array(names.map(JSON.string)).text
        try await page.until(
            "JSON.stringify([...document.querySelectorAll('#list [data-key^=event] strong')].map(e => e.textContent)) === "
                + JSON.string(expected).text, line: line)
    }

    /// Waits until the map has this zoom, and its middle is near this place: the map rounds to pixels.
    func untilMap(zoom: Int, lat: Double, lon: Double, line: Int = #line) async throws {
        try await page.until(
            """
            ((zoom, lat, lon) => zoom === \(zoom) && Math.abs(lat - \(lat)) < 0.1 && Math.abs(lon - \(lon)) < 0.1)(
                ...(location.hash.match(/map=([^&]*)/)?.[1] ?? "").split("/").map(Number))
            """, line: line)
    }

    /// Opens an event of the list by its name, and waits for its details and its number of guests.
    func openEvent(_ name: String, line: Int = #line) async throws {
        let row = "[...document.querySelectorAll('#list button')].find(b => b.textContent.includes(\(JSON.string(name).text)))"
        try await page.until(row, line: line)
        try await page.evaluate("\(row).click()")
        try await untilDetails(name, line: line)
    }

    /// Waits for the details of an event and its number of guests.
    func untilDetails(_ name: String, line: Int = #line) async throws {
        try await page.until(
            """
            !document.getElementById('details-view').hidden
                && document.querySelector('#details-view h2').textContent === \(JSON.string(name).text)
                && document.getElementById('attendance').textContent.includes('attend')
            """, line: line)
    }
}

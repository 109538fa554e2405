import Encoding
import Foundation
import TestDatabase
import TestServer
import Testing

/// `humon serve` on a database of its own, a browser, and another client of the API.
struct LivePage: Sendable {
    let page: BrowserPage
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
    ///   - environment: of the server, besides the database and the secret
    static func with(
        _ arguments: [String] = [], environment: [String: String] = [:],
        _ body: @Sendable (LivePage, HumonProcess) async throws -> Void
    ) async throws {
        try await TestDatabase.with(migrated: false) { database in
            try await HumonProcess.withDirectory { directory in
                try await HumonProcess.withServer(
                    in: directory, environment: self.environment(database).merging(environment) { $1 }
                ) { server, port in
                    let user = try await exchange(
                        "POST", "http://127.0.0.1:\(port)/v1/users", headers: [("tb-app-secret", HumonProcess.secret)])
                    let token = try #require(try JSON(utf8: user.body.utf8)["device_token"]?.string)
                    try await BrowserPage.with(arguments, in: directory) { page in
                        try await body(
                            LivePage(page: page, port: port, directory: directory, database: database, token: token), server)
                    }
                }
            }
        }
    }

    /// Opens the map.
    func open(_ place: String = "map=12/52.52/13.4&when=any", untilLive: Bool = true) async throws {
        try await page.open("\(address)/#\(place)")
        if untilLive { try await page.until("document.getElementById('status')?.textContent === 'Live'") }
    }

    /// The other client creates an event near the middle of the map.
    @discardableResult
    func createEvent(_ name: String, lat: Double = 52.525, lon: Double = 13.405) async throws -> Int {
        let body = #"{"name":"\#(name)","lat":\#(lat),"lon":\#(lon),"started_at":"2037-01-01T20:00:00Z"}"#
        let answer = try await send("POST", "/v1/events", body)
        return try #require(try JSON(utf8: answer.body.utf8)["id"]?.integer)
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
}

import Encoding
import Foundation
import TestServer
import Testing

@Suite(.live()) struct `The page of an event in a browser` {
    @Test func `says when that is for the visitor, shares its address, and leads to the map`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night")
        let zone = #"{"time_zone":"Asia/Tokyo","description":"Bring a chair"}"#
        #expect(try await live.send("PUT", "/v1/events/\(id)", Self.whole(zone)).status == 200)
        try await live.createEvent("Soon", at: Date(timeIntervalSinceNow: 86_400).formatted(.iso8601))
        try await page.zone("Europe/Berlin")
        try await page.browser("Browser.grantPermissions", ["permissions": ["clipboardReadWrite", "clipboardSanitizedWrite"]])
        try await page.open("\(live.address)/events/\(id)")
        try await page.until("document.querySelector('dd')?.textContent.includes('For you: Thursday')")
        try await page.evaluate("delete Navigator.prototype.share; true")
        try await page.press(button: "Share")
        try await page.until("document.getElementById('announcement').textContent === 'The address is copied.'")
        #expect(try await page.evaluate("navigator.clipboard.readText()") == .string("\(live.address)/events/\(id)"))
        for (width, height) in [(320, 640), (1200, 800)] {
            try await page.resize(width, height)
            #expect(try await page.evaluate("document.documentElement.scrollWidth <= innerWidth") == .bool(true), "\(width)")
        }
        for language in ["en", "de"] {
            for path in ["/events/\(id)", "/events/999", "/embed?bbox=-180,-90,180,90"] {
                try await page.open("\(live.address)\(path)\(path.contains("?") ? "&" : "?")lang=\(language)")
                try await page.until("document.querySelector('h1') && document.documentElement.lang === '\(language)'")
                try await page.expectAccessible("\(path) in \(language)")
                try await page.discardComplaints()
            }
        }
        try await page.open("\(live.address)/events/\(id)")
        try await page.until("document.querySelector('.buttons a:not(.primary)')")
        try await page.click(".buttons a:not(.primary)")
        try await live.untilDetails("Jazz night")
    }

    @Test func `is whole without scripts`() async throws {
        let page = live.page
        let id = try await live.createEvent("Jazz night")
        try await page.send("Emulation.setScriptExecutionDisabled", ["value": .bool(true)])
        try await page.open("\(live.address)/events/\(id)")
        try await page.send("Emulation.setScriptExecutionDisabled", ["value": .bool(false)])
        try await page.until("document.querySelector('h1')?.textContent === 'Jazz night'")
        #expect(try await page.evaluate("document.getElementById('share').hidden") == .bool(true))
        #expect(try await page.text("dl").contains("Time zone: UTC"))
    }

    /// A replacement of the event that `createEvent` makes.
    private static func whole(_ more: String) -> String {
        #"{"name":"Jazz night","lat":52.525,"lon":13.405,"started_at":"2037-01-01T20:00:00Z","# + more.dropFirst()
    }
}

import Encoding
import EventStore
import Events
import Foundation
import HTTPTypes
import TestDatabase
import TestHTTP
import TestServer
import Testing
import Users

@testable import HTTP

@Suite struct `Following changes` {
    static let near = "lat=37.76&lon=-122.43"

    /// Opens a stream with HTTP/1.0, so that the body has no chunks.
    static func open(_ api: TestAPI, _ query: String, _ fields: String = "") throws -> RawConnection {
        let connection = try RawConnection(port: api.client.port)
        try connection.send("GET /v1/events/changes?\(query) HTTP/1.0\r\nHost: localhost\r\n\(fields)\r\n")
        return connection
    }

    private static func move(_ api: TestAPI, _ id: Int64, lat: Double) async throws -> Int {
        try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: mergePatch, #"{"lat":\#(lat)}"#).status
    }

    @Test(.api(.live)) func `a stream begins with its header fields, and has the changes since the list`() async throws {
        let id = try await api.createEvent("owner")
        let position = try #require(try await api.send(.get, "/v1/events/nearests?\(Self.near)").header("humon-position"))
        let stream = try Self.open(api, "\(Self.near)&since=\(position)")
        let head = try await stream.receive { $0.hasSuffix("retry: 2000\nid: \(position)\n\n") }.text
        for field in [
            "Content-Type: text/event-stream", "Cache-Control: no-store", "x-accel-buffering: no", "Connection: close",
        ] {
            #expect(head.contains("\r\n\(field)\r\n"), "\(head)")
        }
        #expect(head.contains("\r\nhumon-position: ") && !head.contains("Content-Length"), "\(head)")
        func next(_ count: Int64) async throws -> LogCursor {
            try await api.log.cursor(at: try #require(LogCursor(position)).position + count)
        }
        #expect(try await Self.move(api, id, lat: 37.77) == 200)
        let event = try await api.send(.get, "/v1/events/\(id)").body
        let put = try await next(1)
        #expect(try await stream.receive { $0.hasSuffix("\n\n") }.text == "id: \(put)\nevent: put\ndata: \(event)\n\n")
        #expect(try await Self.move(api, id, lat: 40) == 200)
        let gone = try await next(2)
        #expect(try await stream.receive { $0.hasSuffix("\n\n") }.text == "id: \(gone)\nevent: gone\ndata: {\"id\":\(id)}\n\n")
    }

    @Test(.api(.live)) func `Last-Event-ID takes precedence over since`() async throws {
        let id = try await api.createEvent("owner")
        let shown = try await api.send(.get, "/v1/events/\(id)").header("humon-position")
        let position = try #require(shown.flatMap(LogCursor.init)).position
        for lat in [37.77, 37.78] { #expect(try await Self.move(api, id, lat: lat) == 200) }
        let stream = try Self.open(api, "\(Self.near)&since=\(position)", "Last-Event-ID: \(position + 1)\r\n")
        let text = try await stream.receive { $0.contains("event: put") && $0.hasSuffix("\n\n") }.text
        let (first, second) = (try await api.log.cursor(at: position + 1), try await api.log.cursor(at: position + 2))
        #expect(text.contains("\n\nid: \(second)\nevent: put\n") && !text.contains("id: \(first)\nevent"), "\(text)")
    }

    @Test(.api(.live)) func `a position beyond the log gets a reset and the end`() async throws {
        _ = try await api.createEvent("owner")
        for since in [4_711, 9_007_199_254_740_991] as [Int64] {
            let received = try await Self.open(api, "\(Self.near)&since=\(since)").receive()
            #expect(received.isEnded, "\(since)")
            #expect(received.text.hasSuffix("\r\n\r\nevent: reset\ndata: {}\n\n"), "\(since) \(received.text)")
        }
    }

    @Test(.api(.live))
    func `a stream has nothing of an event that was changed, hidden or cancelled after its first position`() async throws {
        let kept = try await api.createEvent("owner", name: "Kept")
        let position = try #require(try await api.send(.get, "/v1/events/nearests?\(Self.near)").header("humon-position"))
        let changed = try await api.createEvent("owner", name: "Private words")
        let body = #"{"name":"Other words"}"#
        #expect(try await api.send(.patch, "/v1/events/\(changed)", token: "owner", type: mergePatch, body).status == 200)
        let hidden = try await api.createEvent("owner", name: "Private words")
        _ = try await api.events.hide(
            EventID(rawValue: hidden), reason: try HidingReason("spam"), context: CommandContext(requestID: "test"))
        let cancelled = try await api.createEvent("owner", name: "Private words")
        #expect(try await api.send(.delete, "/v1/events/\(cancelled)", token: "owner").status == 200)
        #expect(try await api.send(.delete, "/v1/events/\(kept)", token: "owner").status == 200)
        let last = try #require(LogCursor(position)).position + 7
        let text = try await Self.open(api, "\(Self.near)&since=\(position)")
            .receive { $0.contains("id: \(last).") && $0.hasSuffix("\n\n") }.text
        let lines = text.components(separatedBy: "\n\n").dropFirst().joined(separator: "\n")
        #expect(!text.contains("Private"), "\(text)")
        #expect(lines.matches(of: /event: put/).count == 1 && lines.contains("Other words"), "\(text)")
        #expect(lines.contains("event: gone\ndata: {\"id\":\(kept)}"), "\(text)")
        #expect(!lines.contains("{\"id\":\(hidden)}") && !lines.contains("{\"id\":\(cancelled)}"), "\(text)")
    }

    @Test(.api(.live)) func `a stream with q has the events with these words, and names others of its area that are gone`()
        async throws
    {
        let ids = [try await api.createEvent("owner", name: "Café"), try await api.createEvent("owner", name: "Tea")]
        let list = try await api.send(.get, "/v1/events/nearests?\(Self.near)&q=CAFE")
        let position = try #require(list.header("humon-position"))
        #expect(list.body.contains("Café") && !list.body.contains("Tea"))
        let live = try Self.open(api, "\(Self.near)&q=CAFE&since=\(position)")
        _ = try await live.receive { $0.contains("retry: 2000\n") && $0.hasSuffix("\n\n") }
        func rename(_ id: Int64, _ name: String) async throws {
            let body = #"{"name":"\#(name)"}"#
            #expect(try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: mergePatch, body).status == 200)
        }
        try await rename(ids[0], "Bar")
        try await rename(ids[1], "Cafeteria")
        _ = try await api.createEvent("owner", name: "Bar")
        let last = try await api.createEvent("owner", lat: 37.77, name: "Cafés")
        for stream in [live, try Self.open(api, "\(Self.near)&q=CAFE&since=\(position)")] {
            let text = try await stream.receive { $0.contains("\"id\":\(last),") && $0.hasSuffix("\n\n") }.text
            let lines = text.split(separator: "\n").filter { $0.hasPrefix("event: ") }
            #expect(lines == ["event: gone", "event: put", "event: put"], "\(text)")
            #expect(text.contains("data: {\"id\":\(ids[0])}\n") && text.contains("Cafeteria") && !text.contains("Bar"), "\(text)")
        }
    }

    @Test(.api(.live, reads: .devices))
    func `a token that is replaced or revoked ends its user's streams, and no other user's`() async throws {
        for token in ["first", "second"] { #expect(try await api.signUp(token).status == 200) }
        func open(_ token: String) async throws -> RawConnection {
            let stream = try Self.open(api, Self.near, "tb-device-token: \(token)\r\n")
            _ = try await stream.receive { $0.contains("retry: 2000\n") && $0.hasSuffix("\n\n") }
            return stream
        }
        let streams = [try await open("first"), try await open("first")]
        let other = try await open("second")
        let body = #"{"device_token":"third"}"#
        #expect(try await api.send(.post, "/v1/users/me/token", token: "first", body).status == 200)
        for stream in streams { #expect(try await stream.receive().isEnded) }
        #expect(try await api.send(.get, "/v1/events/changes?\(Self.near)", token: "first").status == 401)
        let renewed = try await open("third")
        _ = try await api.users.revokeToken(of: UserID(rawValue: 1), context: CommandContext(requestID: "test"))
        #expect(try await renewed.receive().isEnded)
        #expect(try await other.received(for: .milliseconds(200)).isEnded == false)
    }

    @Test(.api(.live)) func `HEAD gets the header fields of a stream`() async throws {
        let head = try await api.send(.head, "/v1/events/changes?\(Self.near)")
        #expect((head.status, head.header("content-type")) == (200, "text/event-stream"))
    }

    @Test(.api(.live)) func `the metrics count streams and changes`() async throws {
        _ = try await api.createEvent("owner")
        let stream = try Self.open(api, Self.near)
        _ = try await stream.receive { $0.contains("retry: 2000\n") && $0.hasSuffix("\n\n") }
        _ = try await api.createEvent("owner")
        _ = try await stream.receive { $0.contains("event: put") && $0.hasSuffix("\n\n") }
        try await eventually {
            let metrics = try await api.ask("/metrics").body
            return metrics.contains("\nhumon_changes_streams 1\n") && metrics.contains("\nhumon_changes_sent_total 1\n")
        }
    }
}

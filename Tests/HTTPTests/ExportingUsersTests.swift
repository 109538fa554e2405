import Encoding
import EventStore
import HTTPTypes
import Postgres
import TestDatabase
import TestHTTP
import TestServer
import Testing
import Users

@testable import HTTP
@testable import HTTPServer

@Suite struct `Exporting a user over HTTP` {
    @Test(.api(.live)) func `the export has everything of the user, and nothing of another one`() async throws {
        let other = try await api.createEvent("other", name: "Wabbajack")
        let own = try await api.createEvent("person", lat: 12.345678, name: "Quizzaciously \u{1F375}")
        let attended = try await api.send(
            .post, "/v1/attendances", token: "person", #"{"event":{"id":\#(other)}}"#, headers: ["idempotency-key": "key"])
        #expect(attended.status == 200)
        #expect(try await api.send(.post, "/v1/users/me/passes", token: "person", #"{"kind":"transfer"}"#).status == 200)
        let patch = #"{"category":"games","description":"Flibbertigibbet","link":"https://example.org/","time_zone":"UTC"}"#
        #expect(try await api.send(.patch, "/v1/events/\(own)", token: "person", type: mergePatch, patch).status == 200)
        #expect(try await api.send(.delete, "/v1/events/\(own)", token: "person").status == 200)
        let answer = try await api.send(.get, "/v1/users/me/export.json", token: "person")
        #expect((answer.status, answer.header("cache-control")) == (200, "no-store"))
        #expect(answer.header("content-type") == "application/json; charset=utf-8")
        let document = try JSON(utf8: answer.bytes)
        #expect(document["user"] == JSON(2))
        guard case .array(let events)? = document["recorded_events"] else { throw TestAPI.UnexpectedAnswer(answer: answer) }
        #expect(
            events.map { $0["type"]?.storedString } == [
                "UserCreated", "PassIssued", "EventCreated", "EventUpdated", "EventCancelled", "AttendanceAdded",
            ])
        #expect(events[0]["data"]?["device"]?.storedString?.count == 64)
        #expect(events[1]["data"]?["digest"]?.storedString?.count == 64 && events[1]["stream"] == "pass-2")
        #expect(events[2]["data"]?["name"] == "Quizzaciously \u{1F375}" && events[3]["data"]?["description"] == "Flibbertigibbet")
        #expect(["category", "time_zone", "link"].map { events[3]["data"]?[$0] } == ["games", "UTC", "https://example.org/"])
        guard case .array(let keys)? = document["idempotency_keys"] else { throw TestAPI.UnexpectedAnswer(answer: answer) }
        #expect(keys.map { $0["stream"]?.storedString } == ["attendance-\(other)-2"])
        #expect(document["parked_streams"] == [])
        #expect(!answer.body.contains("Wabbajack"))
        // One recorded event on a line.
        #expect(answer.body.split(separator: "\n").filter { $0.hasPrefix(#"{"position":"#) }.count == 6)
    }

    @Test func `a user has one export at a time, and a process four`() throws {
        let exports = UserExports()
        var slots = try (1...4).map { try exports.begin(UserID(rawValue: $0)) }
        let again = #expect(throws: HTTPError.self) { _ = try exports.begin(UserID(rawValue: 1)) }
        #expect(again?.status == .tooManyRequests)
        #expect(again?.headers[.retryAfter] == "10")
        #expect(throws: HTTPError.overloaded) { _ = try exports.begin(UserID(rawValue: 5)) }
        slots.removeFirst()
        slots.append(try exports.begin(UserID(rawValue: 1)))
        #expect(slots.count == 4)
    }

    @Test(.api(.live, loadsIndex: false))
    func `an export larger than the buffers of a stream arrives whole, although the client is slow`() async throws {
        // No index could read the recorded events.
        let own = try await api.createEvent("person")
        try await api.database.withClient { client async throws in
            // 3,000 changes of 1 kB each, as the log keeps them.
            _ = try await client.query(
                """
                INSERT INTO log.recorded_events (position, id, stream, version, type, format, recorded_at, data, metadata)
                SELECT 2 + n, gen_random_uuid(), \("event-\(own)"), 1 + n, 'EventHidden', 1, now(),
                    json_build_object('reason', repeat('x', 1000)), '{"request_id":"x","actor":null,"trace_id":null}'::json
                FROM generate_series(1, 3000) AS n
                """)
        }
        let client = try RawConnection(port: api.client.port)
        try client.send("GET /v1/users/me/export HTTP/1.0\r\nHost: localhost\r\ntb-device-token: person\r\n\r\n")
        try await Task.sleep(for: .milliseconds(500))
        let received = try await client.receive()
        #expect(received.isEnded)
        let body = try #require(received.text.split(separator: "\r\n\r\n", maxSplits: 1).last)
        let document = try JSON(utf8: body.utf8)
        guard case .array(let events)? = document["recorded_events"] else { throw FormatError("no events") }
        #expect(events.count == 3_002)
    }
}

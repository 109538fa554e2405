import Encoding
import EventStore
import Foundation
import HTTP
import HTTPTypes
import Postgres
import TestDatabase
import TestHTTP
import TestServer
import Testing

@Suite struct `Erasing a user over HTTP` {
    /// The words and places of a user, each of which occurs nowhere else.
    private static let words = [
        "Quizzaciously", "Zyzzyva Street", "Wabbajack", "Flibbertigibbet", "12.345678", "98.765432", "outdoors",
        "Antarctica/Troll",
        "Xylophonically", "borborygmi.example",
    ]

    /// A user with a changed, a cancelled and a hidden event, who attends the event of another user, who attends theirs.
    private static func populate(_ api: TestAPI) async throws -> (own: [Int64], other: Int64) {
        let other = try await api.createEvent("other", name: "Chess")
        var own: [Int64] = []
        for name in ["Quizzaciously", "Wabbajack", "Gone"] {
            own.append(try await api.createEvent("person", lat: 12.345678, lon: 98.765432, name: name))
        }
        // In time for a calendar.
        let tomorrow = Date(timeIntervalSinceNow: 86_400).formatted(.iso8601)
        let changed = """
            {"name":"Flibbertigibbet","address":"Zyzzyva Street 7","category":"outdoors","time_zone":"Antarctica/Troll",\
            "started_at":"\(tomorrow)",\
            "description":"Xylophonically","link":"https://borborygmi.example/"}
            """
        for (method, path, token, body) in [
            (HTTPRequest.Method.patch, "/v1/events/\(own[0])", "person", changed),
            (.delete, "/v1/events/\(own[1])", "person", ""),
            (.post, "/v1/attendances", "person", #"{"event":{"id":\#(other)}}"#),
            (.post, "/v1/attendances", "other", #"{"event":{"id":\#(own[0])}}"#),
        ] {
            let type = method == .patch ? mergePatch : "application/json"
            let answer = try await api.send(
                method, path, token: token, type: type, body, headers: ["idempotency-key": "key-\(method)-\(token)"])
            #expect(answer.status == 200, "\(answer.body)")
        }
        try await api.hide(own[2])
        return (own, other)
    }

    /// Everything that the database has, as text.
    static func contents(_ database: TestDatabase) async throws -> String {
        try await database.withClient { client in
            let tables = try await client.query(
                """
                SELECT n.nspname || '.' || c.relname FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                WHERE c.relkind = 'r' AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema' ORDER BY 1
                """
            ).decode(String.self)
            var text = ""
            for table in tables {
                text += try await client.query(
                    "SELECT coalesce(string_agg(t::text, E'\\n'), '') FROM \(SQL(unsafeText: table)) AS t"
                ).decode(String.self)[0]
            }
            return text
        }
    }

    @Test(.api()) func `after the response nothing shows the user, and the log keeps facts`() async throws {
        let (own, other) = try await Self.populate(api)
        let before = try await Self.contents(api.database)
        for word in Self.words { #expect(before.contains(word), "\(word)") }
        let id = try #require(try await api.send(.get, "/v1/users/me", token: "person").json?["id"]?.text)
        let issued = try await api.send(.post, "/v1/users/me/passes", token: "person", #"{"kind":"recovery"}"#)
        let pass = try #require(issued.json?["pass"]?.storedString)
        let subscribed = try await api.send(.post, "/v1/users/me/passes", token: "person", #"{"kind":"calendar"}"#)
        let feeds = [
            "/v1/events.ics?lat=12.3457&lon=98.7654&radius=1", "/v1/events?bbox=98,12,99,13&q=flibber",
            "/v1/calendars/\(try #require(subscribed.json?["pass"]?.storedString)).ics",
        ]
        for path in feeds { #expect(try await api.send(.get, path).body.contains("Flibbertigibbet"), "\(path)") }
        let digests = try await api.database.withClient { client in
            try await client.query(
                """
                SELECT coalesce(personal ->> 'device', personal ->> 'digest') FROM log.recorded_events
                WHERE stream IN (\("user-\(id)"), \("pass-\(id)"))
                """
            ).decode(String.self)
        }
        let present = try await Self.contents(api.database)
        #expect(digests.count == 3)
        // Once in the log, and once in a read model.
        for digest in digests { #expect(digest.count == 64 && present.components(separatedBy: digest).count == 3) }

        let answer = try await api.send(.delete, "/v1/users/me", token: "person")
        #expect((answer.status, answer.body) == (200, "{}"))
        let tail = try await api.log.tail()

        for id in own { #expect(try await api.send(.get, "/v1/events/\(id)", token: "other").status == 404) }
        for path in feeds + own.map({ "/v1/events/\($0).ics" }) {
            let shown = try await api.send(.get, path)
            #expect(shown.status == (feeds.prefix(2).contains(path) ? 200 : 404), "\(path)")
            for word in Self.words { #expect(!shown.body.contains(word), "\(path) shows \(word)") }
        }
        let near = try await api.send(.get, "/v1/events/nearests?lat=12.345678&lon=98.765432&radius=1")
        #expect(near.body == #"{"message":"No Events Found"}"#)
        let attendance = try await api.send(.get, "/v1/events/\(other)/attendance")
        #expect(attendance.body == #"{"count":0,"attending":false}"#)
        let attended = try await api.send(.get, "/v1/users/me/attendances", token: "other")
        #expect(attended.body == "[]")
        #expect(try await api.send(.get, "/v1/users/me", token: "person").status == 401)
        #expect(try await api.signUp("person").status == 401)
        let back = #"{"pass":"\#(pass)","device_token":"new"}"#
        let returned = try await api.send(.post, "/v1/users/return", back, headers: ["tb-app-secret": TestAPI.secret])
        #expect((returned.status, returned.body) == (404, notFound))
        let again = try await api.send(.delete, "/v1/users/me", token: "person")
        #expect((again.status, again.body) == (200, "{}"))
        #expect(try await api.log.tail() == tail)

        let after = try await Self.contents(api.database)
        for word in Self.words { #expect(!after.contains(word), "\(word)") }
        for digest in digests { #expect(!after.contains(digest)) }
        #expect(after.contains("Chess"))
        try await api.database.withClient { client async throws in
            let erased = try await client.query(
                "SELECT stream FROM log.recorded_events WHERE personal IS NULL GROUP BY 1 ORDER BY 1"
            ).decode(String.self)
            #expect(erased == (own.map { "event-\($0)" } + ["pass-2", "user-2"]).sorted())
            let ends = try await client.query(
                "SELECT stream FROM log.recorded_events WHERE type LIKE '%Erased' ORDER BY 1"
            ).decode(String.self)
            #expect(ends == (own.map { "event-\($0)" } + ["attendance-\(other)-2", "pass-2", "user-2"]).sorted())
            let commands = try await client.query(
                "SELECT e.stream FROM log.commands JOIN log.recorded_events AS e USING (position)"
            ).decode(String.self)
            #expect(commands == ["attendance-\(own[0])-1"])
            let facts = try await client.query(
                "SELECT data::text FROM log.recorded_events WHERE stream = \("event-\(own[0])") AND version = 1"
            ).decode(String.self)
            #expect(facts == [#"{"owner":2,"started_at":"2013-09-16T00:00:00.000Z","ended_at":null}"#])
        }
    }

    @Test(.api()) func `an erasure that takes longer has an address, which needs no token and tells of the end`() async throws {
        try await api.signUp("person")
        let position = try await api.log.tail() + 1
        try await api.database.withClient { client async throws in
            // As if the subscription could not handle the erasure. The name is another one, so that it does.
            try await client.query(
                """
                INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
                VALUES ('erasures', 'nobody-1', 1, \(position), 'unknown')
                """)
            let answer = try await api.send(.delete, "/v1/users/me", token: "person")
            #expect((answer.status, answer.body, answer.header("retry-after")) == (202, "{}", "1"))
            let address = try #require(answer.header("location"))
            // Random but for six bits: what an entity tag shows of it is no help for a guess.
            let random = /\/v1\/erasures\/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}/
            #expect(address.wholeMatch(of: random) != nil, "\(address)")
            let repeated = try await api.send(.delete, "/v1/users/me", token: "person")
            #expect((repeated.status, repeated.header("location")) == (202, address))
            let under = try await api.send(.get, address)
            #expect((under.status, under.body) == (200, #"{"state":"erasing"}"#))
            #expect((under.header("retry-after"), under.header("cache-control")) == ("1", "no-store"))

            try await client.query("DELETE FROM log.parked_streams")
            try await eventually { try await api.send(.get, address).body == #"{"state":"erased"}"# }
            let end = try await api.send(.get, "\(address).json")
            #expect((end.status, end.body, end.header("retry-after")) == (200, #"{"state":"erased"}"#, nil))
            #expect(try await api.send(.delete, "/v1/users/me", token: "person").status == 200)
        }
    }

    @Test(arguments: [Set<ServedApp>.all, [.events], [.tasks]])
    func `an address of no erasure gets 404, whatever it names`(apps: Set<ServedApp>) async throws {
        try await TestAPI.with(apps: apps) { api in
            var ids = ["0b9f6f6e-6a0a-4a53-8f5a-5b1a2b9f7d21", "7", "x"]
            if apps.contains(.events) {
                _ = try await api.createEvent("person")
                let recorded = try await api.log.read(after: 0, limit: 10)
                #expect(recorded.count == 2)
                ids += recorded.map(\.envelope.id.uuidString)
            }
            for id in ids {
                let answer = try await api.send(.get, "/v1/erasures/\(id)")
                #expect((answer.status, answer.body) == (404, notFound), "\(id)")
            }
        }
    }

    @Test(.api(.live)) func `a stream of changes tells that the events are gone, and a replay does not show them`() async throws {
        let id = try await api.createEvent("person")
        let start = try await api.log.tail() - 1
        let target = "/v1/events/changes?lat=37.76&lon=-122.43&radius=1&since="
        let stream = try RawConnection(port: api.client.port)
        try stream.send("GET \(target)\(start + 1) HTTP/1.0\r\nHost: localhost\r\n\r\n")
        _ = try await stream.receive { $0.contains("id: \(start + 1).") && $0.hasSuffix("\n\n") }
        #expect(try await api.send(.delete, "/v1/users/me", token: "person").status == 200)
        let gone = try await stream.receive { $0.hasSuffix("\n\n") }.text
        #expect(gone.hasSuffix("event: gone\ndata: {\"id\":\(id)}\n\n"), "\(gone)")

        // Every client hears that it is gone, one from before the event and one of another place, too: so nobody can tell where it was.
        let elsewhere = target.replacing("lat=37.76", with: "lat=-37.76")
        for (target, since) in [(target, start), (target, start + 1), (elsewhere, start), (elsewhere, start + 1)] {
            let late = try RawConnection(port: api.client.port)
            try late.send("GET \(target)\(since) HTTP/1.0\r\nHost: localhost\r\n\r\n")
            let replay = try await late.receive { $0.hasSuffix("{\"id\":\(id)}\n\n") }.text
            #expect(!replay.contains("event: put") && !replay.contains("Party"), "\(replay)")
            #expect(replay.contains("event: gone\ndata: {\"id\":\(id)}"), "\(replay)")
        }
    }
}

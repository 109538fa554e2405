import Encoding
import EventStore
import Events
import Foundation
import HTTPTypes
import Testing
import Users

@testable import HTTP

@Suite struct `Calendars` {
    private static let area = "/v1/events.ics?bbox=-180,-90,180,90"

    /// The time in some days, as a client sends it.
    private static func days(_ days: Int) -> String {
        let milliseconds = Int64(Date.now.timeIntervalSince1970 / 86_400) * 86_400_000 + Int64(days) * 86_400_000
        return Timestamp(milliseconds: milliseconds).description
    }

    private static func create(_ name: String, in days: Int, lat: Double = 1.5, _ more: String = "") async throws -> Int64 {
        try await api.signUp("owner")
        let body = #"{"name":"\#(name)","lat":\#(lat),"lon":2.5,"started_at":"\#(Self.days(days))"\#(more)}"#
        return try #require(try await api.send(.post, "/v1/events", token: "owner", body).id)
    }

    /// The values of a property in the events of a calendar.
    private static func values(_ name: String, _ calendar: String) -> [String] {
        calendar.replacing("\r\n ", with: "").split(separator: "\r\n").compactMap { line in
            line.hasPrefix("\(name):") ? String(line.dropFirst(name.count + 1)) : nil
        }
    }

    @Test(.api()) func `a feed follows an event through its changes and its cancellation under one id`() async throws {
        let day = Self.days(1)
        let id = try await Self.create(
            "Chess, quick", in: 1, #","address":"Park; north","category":"games","description":"Bring a clock""#)
        let first = try await api.send(.get, Self.area)
        #expect(first.status == 200)
        #expect(first.header("content-type") == "text/calendar; charset=utf-8")
        #expect(first.header("x-robots-tag") == "noindex" && first.header("cache-control") == "public, no-cache")
        #expect(Self.values("SUMMARY", first.body) == [#"Chess\, quick"#])
        #expect(Self.values("LOCATION", first.body) == [#"Park\; north"#])
        #expect(Self.values("CATEGORIES", first.body) == ["games"] && Self.values("GEO", first.body) == ["1.500000;2.500000"])
        #expect(Self.values("SEQUENCE", first.body) == ["0"] && Self.values("DESCRIPTION", first.body) == [])
        let start = day.prefix(19).filter { $0 != "-" && $0 != ":" }
        #expect(Self.values("DTSTART", first.body) == [start + "Z"])
        #expect(Self.values("DTEND", first.body) == [start.replacing("T00", with: "T03") + "Z"])
        let tag = try #require(first.header("etag"))
        let again = try await api.send(.get, Self.area, headers: ["if-none-match": tag])
        #expect((again.status, again.body) == (304, ""))

        let whole = try await api.send(.get, "/v1/events/\(id).ics")
        #expect(whole.header("content-disposition") == "attachment; filename=\"event-\(id).ics\"")
        #expect(Self.values("DESCRIPTION", whole.body) == ["Bring a clock"])
        #expect(Self.values("UID", whole.body) == Self.values("UID", first.body))

        let patch = #"{"name":"Chess, slow"}"#
        #expect(try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: mergePatch, patch).status == 200)
        let changed = try await api.send(.get, Self.area, headers: ["if-none-match": tag])
        #expect(Self.values("SUMMARY", changed.body) == [#"Chess\, slow"#] && Self.values("SEQUENCE", changed.body) == ["1"])
        #expect(try await api.send(.delete, "/v1/events/\(id)", token: "owner").status == 200)
        for path in [Self.area, "/v1/events/\(id).ics"] {
            let cancelled = try await api.send(.get, path)
            #expect(cancelled.status == 200, "\(path)")
            #expect(Self.values("STATUS", cancelled.body) == ["CANCELLED"], "\(path)")
            #expect(Self.values("SUMMARY", cancelled.body) == [#"Cancelled: Chess\, slow"#], "\(path)")
            #expect(
                Self.values("SEQUENCE", cancelled.body) == ["2"] && Self.values("DESCRIPTION", cancelled.body) == [], "\(path)")
            #expect(Self.values("UID", cancelled.body) == Self.values("UID", first.body), "\(path)")
        }
        try await api.hide(id)
        let hidden = try await api.send(.get, Self.area)
        #expect(Self.values("UID", hidden.body) == [] && hidden.body.contains("BEGIN:VTIMEZONE\r\n"))
        #expect(try await api.send(.get, "/v1/events/\(id).ics").status == 404)
    }

    @Test(.api())
    func `a feed has the events of a circle or a box, from 30 days ago to a year ahead, in the order of their begins`()
        async throws
    {
        for (name, days, lat) in [
            ("late", 364, 1.5), ("soon", 2, 1.5), ("past", -29, 1.5), ("too late", 367, 1.5), ("too old", -32, 1.5),
            ("away", 2, 9),
        ] {
            _ = try await Self.create(name, in: days, lat: lat)
        }
        // Readers would fail at these years, and show nothing of the feed.
        for (start, end) in [("0000-01-01", "2099-01-01"), ("2020-01-01", "9999-12-31")] {
            let body = #"{"name":"odd","lat":1.5,"lon":2.5,"started_at":"\#(start)T00:00:00Z","ended_at":"\#(end)T00:00:00Z"}"#
            let answer = try await api.send(.post, "/v1/events", token: "owner", body)
            #expect(answer.status == 200, "\(answer.body)")
        }
        for area in ["lat=1.5&lon=2.5&radius=10", "lat=1.5&lon=2.5", "bbox=2,1,3,2"] {
            let feed = try await api.send(.get, "/v1/events.ics?\(area)")
            #expect(Self.values("SUMMARY", feed.body) == ["past", "soon", "late"], "\(area)")
        }
        #expect(Set(Self.values("UID", try await api.send(.get, Self.area).body)).count == 4)
    }

    @Test(.api()) func `a feed with q or category has only these events, and a cancelled one by its last words`() async throws {
        let id = try await Self.create("Schach", in: 1, #","address":"Straße 5","category":"games""#)
        _ = try await Self.create("Fest", in: 2, #","category":"food""#)
        for (query, expected) in [
            ("&q=sch+STRASSE", ["Schach"]), ("&category=food", ["Fest"]), ("&q=&category=", ["Schach", "Fest"]),
        ] {
            let feed = try await api.send(.get, Self.area + query)
            #expect(Self.values("SUMMARY", feed.body) == expected, "\(query)")
        }
        // A feed has no window of its own.
        #expect(try await api.send(.get, Self.area + "&from=x").status == 200)
        #expect(try await api.send(.delete, "/v1/events/\(id)", token: "owner").status == 200)
        let feed = try await api.send(.get, Self.area + "&q=schach&category=games")
        #expect(Self.values("SUMMARY", feed.body) == ["Cancelled: Schach"])
    }

    @Test(.api()) func `unusable areas and unknown events get the errors of other routes`() async throws {
        for (query, error) in [
            ("", "Bbox can't be blank"), ("bbox=1,2,3", "Bbox is not a valid box"),
            ("lat=91&lon=2", "Lat must be between -90 and 90"),
            ("bbox=1,1,2,2&lat=1&lon=2", "Bbox must not stand beside lat, lon and radius"),
        ] {
            let answer = try await api.send(.get, "/v1/events.ics?\(query)", headers: ["accept": "application/json"])
            #expect(answer.status == 422, "\(query)")
            #expect(answer.json?["errors"]?.text.contains(error) == true, "\(query): \(answer.body)")
        }
        for path in ["/v1/events/12.ics", "/v1/events/x.ics", "/v1/events/.ics", "/v1/events/1.ics.ics"] {
            #expect(try await api.send(.get, path).status == 404, "\(path)")
        }
    }

    @Test(.api())
    func `a feed with too many events in a year reaches less far, and with too many in a day it has a part of them`()
        async throws
    {
        let user = UserID(rawValue: try #require(try await api.signUp("owner").id))
        _ = try await Self.create("soon", in: 2)
        let far = try #require(Timestamp(rfc3339: Self.days(300)))
        let details = EventDetails(name: "far", coordinates: Coordinates(lat: 1.5, lon: 2.5), startedAt: far)
        try await withThrowingTaskGroup { group in
            for worker in 0..<32 {
                group.addTask { [events = api.events] in
                    for _ in stride(from: worker, through: 5_000, by: 32) {
                        _ = try await events.create(details, by: user, context: CommandContext(requestID: "test"))
                    }
                }
            }
            try await group.waitForAll()
        }
        let feed = try await api.send(.get, Self.area)
        #expect(Self.values("SUMMARY", feed.body) == ["soon"])
        // A user may have more events than that, and must not close the feeds of others.
        for fields: JSON in [["bbox": "-180,-90,180,90"], ["lat": JSON(1.5), "lon": JSON(2.5)]] {
            let crowd = try await api.events.calendar(of: CalendarRequest(fields), at: far).events
            #expect(crowd.count == 400 && crowd.allSatisfy { $0.details.name == "far" })
        }
        // A user's own calendar is not cut at a time.
        let own = try await api.events.calendar(of: user, attending: []).events
        #expect(own.count == 400 && own.first?.details.name == "soon")
    }

    @Test(.api()) func `a cancelled event is in calendars for 30 days`() async throws {
        let id = EventID(rawValue: try await Self.create("soon", in: 2))
        #expect(try await api.send(.delete, "/v1/events/\(id.rawValue)", token: "owner").status == 200)
        let area = try CalendarRequest(["bbox": "-180,-90,180,90"])
        for (days, isShown) in [(0, true), (29, true), (31, false)] {
            let now = try #require(Timestamp(rfc3339: Self.days(days)))
            #expect(try await api.events.calendar(of: area, at: now).events.count == (isShown ? 1 : 0), "\(days)")
            let one = try? await api.events.calendar(of: id, at: now).events
            #expect((one != nil) == isShown, "\(days)")
        }
    }

    @Test(.api(reads: .devices)) func `calendars need a token if reads are for devices only`() async throws {
        let id = try await Self.create("Chess", in: 1)
        for path in [Self.area, "/v1/events/\(id).ics"] {
            #expect(try await api.send(.get, path).status == 401)
            let answer = try await api.send(.get, path, token: "owner")
            #expect(answer.status == 200 && answer.header("cache-control") == "private, no-cache")
        }
    }

    /// The path of a user's calendar, with a new secret.
    private static func own(_ token: String) async throws -> String {
        let issued = try await api.send(.post, "/v1/users/me/passes", token: token, #"{"kind":"calendar"}"#)
        return "/v1/calendars/\(try #require(issued.json?["pass"]?.string)).ics"
    }

    @Test(.api()) func `a user's calendar follows what the user owns and attends, whole and under the ids of other feeds`()
        async throws
    {
        let id = try await Self.create("Own", in: 1, #","description":"Bring a clock","link":"https://example.org/""#)
        let far = try await Self.create("Far", in: 900)
        let attended = try await api.createEvent("host", name: "Theirs")
        _ = try await api.createEvent("host", name: "Foreign")
        #expect(try await api.send(.put, "/v1/events/\(attended)/attendance", token: "owner").status == 200)
        let path = try await Self.own("owner")
        let first = try await api.send(.get, path)
        #expect(first.status == 200 && first.header("content-type") == "text/calendar; charset=utf-8")
        #expect(first.header("x-robots-tag") == "noindex" && first.header("cache-control") == "private, no-cache")
        let secret = path.dropFirst("/v1/calendars/".count).dropLast(".ics".count)
        let unfolded = first.body.replacing("\r\n ", with: "")
        #expect(!"\(first.headers) \(unfolded)".contains(secret) && !unfolded.contains("SOURCE"))
        #expect(Self.values("SUMMARY", first.body) == ["Theirs", "Own", "Far"])
        #expect(Self.values("DESCRIPTION", first.body) == [#"Bring a clock\n\nhttps://example.org/"#])
        let uids = Self.values("UID", first.body)
        for (id, uid) in zip([attended, id, far], uids) {
            #expect(try await Self.values("UID", api.send(.get, "/v1/events/\(id).ics").body) == [uid])
        }
        let tag = try #require(first.header("etag"))
        #expect(try await api.send(.get, path, headers: ["if-none-match": tag]).status == 304)

        #expect(
            try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: mergePatch, #"{"name":"Mine"}"#).status == 200)
        let changed = try await api.send(.get, path, headers: ["if-none-match": tag])
        #expect(Self.values("SUMMARY", changed.body) == ["Theirs", "Mine", "Far"])
        for (id, token) in [(id, "owner"), (attended, "host")] {
            #expect(try await api.send(.delete, "/v1/events/\(id)", token: token).status == 200)
        }
        let cancelled = try await api.send(.get, path)
        #expect(Self.values("SUMMARY", cancelled.body) == ["Cancelled: Theirs", "Cancelled: Mine", "Far"])
        #expect(Self.values("UID", cancelled.body) == uids && Self.values("DESCRIPTION", cancelled.body) == [])
        #expect(try await api.send(.delete, "/v1/events/\(attended)/attendance", token: "owner").status == 200)
        for id in [id, far] { try await api.hide(id) }
        #expect(Self.values("UID", try await api.send(.get, path).body) == [])
    }

    @Test(.api(reads: .devices))
    func `an unknown or ended secret gets 404, and a known one needs no token and has ten reads a minute`()
        async throws
    {
        try await api.signUp("owner")
        let replaced = try await Self.own("owner")
        let path = try await Self.own("owner")
        let link = try await api.send(.post, "/v1/users/me/passes", token: "owner", #"{"kind":"recovery"}"#)
        let recovery = try #require(link.json?["pass"]?.string)
        for path in [replaced, "/v1/calendars/\(recovery).ics", "/v1/calendars/0.ics"] {
            let answer = try await api.send(.get, path)
            #expect((answer.status, answer.body) == (404, notFound), "\(path)")
        }
        for _ in 1..<SharedLimits.calendarReadsPerMinute { #expect(try await api.send(.get, path).status == 200) }
        #expect(try await api.send(.get, path.replacing(/[0-9A-Z]{26}/) { $0.output.lowercased() }).status == 200)
        let refused = try await api.send(.get, path)
        #expect((refused.status, refused.header("retry-after")) == (429, "6"))
        let other = try await Self.own("owner")
        #expect(try await api.send(.get, other).status == 200)
        #expect(try await api.send(.delete, "/v1/users/me/passes/calendar", token: "owner").status == 200)
        #expect(try await api.send(.get, other).status == 404)
    }
}

import Encoding
import EventStore
import HTTP
import HTTPServer
import HTTPTypes
import TestHTTP
import Testing

private let cancelled = #"{"message":"Event Cancelled"}"#
private let hidden = #"{"message":"Event Hidden"}"#
private let forbidden = #"{"message":"Forbidden"}"#

@Suite struct `Cancelling an event over HTTP` {
    @Test func `the owner cancels an event, which then is gone`() async throws {
        for hasIndex in [true, false] {
            try await TestAPI.with(hasIndex: hasIndex) { api in
                let id = try await api.createEvent("owner")
                try await api.signUp("guest")
                let answer = try await api.cancel(id)
                #expect((answer.status, answer.body) == (200, #"{"id":1}"#))
                #expect(answer.header("humon-position") == "4")
                for token in [nil, "owner", "guest", "nobody"] {
                    let shown = try await api.send(.get, "/v1/events/\(id)", token: token)
                    #expect((shown.status, shown.body) == (410, cancelled))
                    #expect(shown.header("cache-control") == "no-store")
                }
                let update = try await api.send(.patch, "/v1/events/\(id)", token: "owner", `Changing an event`.required)
                #expect((update.status, update.body) == (410, cancelled))
                let foreign = try await api.send(.patch, "/v1/events/\(id)", token: "guest", `Changing an event`.required)
                #expect((foreign.status, foreign.body) == (403, forbidden))
                if hasIndex {
                    let list = try await api.send(.get, "/v1/events/nearests?lat=37.76&lon=-122.43")
                    #expect((list.status, list.body) == (200, #"{"message":"No Events Found"}"#))
                }
            }
        }
    }

    @Test func `the body of a cancellation is ignored`() async throws {
        let cases: [(type: String, body: String)] = [
            ("application/json", ""), ("application/json", "{}"), ("application/json; charset=utf-8", #"{"id":7}"#), (form, ""),
            (form, "event[id]=7"),
        ]
        try await TestAPI.with(.live) { api in
            for (type, body) in cases {
                let id = try await api.createEvent("owner")
                #expect(try await api.cancel(id, type: type, body).status == 200, "\(type): \(body)")
            }
        }
    }

    @Test func `a body that does not match its content type gets 400, and another content type 415`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            #expect(try await api.cancel(id, "{").status == 400)
            #expect(try await api.cancel(id, type: "text/plain", "x").status == 415)
            #expect(try await api.send(.get, "/v1/events/\(id)").status == 200)
        }
    }

    @Test func `cancelling twice is cancelling once`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let tag = try #require(try await api.tag("/v1/events/\(id)"))
            for _ in 0..<3 {
                let answer = try await api.cancel(id, headers: ["if-match": tag])
                #expect((answer.status, answer.body) == (200, #"{"id":1}"#))
            }
            #expect(try await api.log.read(stream: .init("event-\(id)")).count == 2)
        }
    }

    @Test func `an idempotency key belongs to one cancellation`() async throws {
        try await TestAPI.with { api in
            let ids = try await [api.createEvent("owner"), api.createEvent("owner")]
            let key = ["idempotency-key": "cancel"]
            let first = try await api.cancel(ids[0], headers: key)
            let second = try await api.cancel(ids[0], headers: key)
            #expect((first.status, first.body) == (200, #"{"id":1}"#))
            #expect((second.status, second.body) == (200, #"{"id":1}"#))
            #expect(second.header("humon-position") == first.header("humon-position"))
            #expect(try await api.cancel(ids[1], headers: key).status == 422)
            #expect(try await api.send(.get, "/v1/events/\(ids[1])").status == 200)
        }
    }

    @Test func `a cancellation of another version than the expected one gets 412`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let tag = try #require(try await api.tag("/v1/events/\(id)"))
            #expect(try await api.cancel(id, headers: ["if-match": #""2""#.marked(as: tag)]).status == 412)
            #expect(try await api.cancel(id, headers: ["if-none-match": "*"]).status == 412)
            #expect(try await api.cancel(id, headers: ["if-match": tag]).status == 200)
        }
    }

    @Test func `only the owner may cancel, with a known token`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            try await api.signUp("guest")
            let foreign = try await api.cancel(id, token: "guest")
            #expect((foreign.status, foreign.body) == (403, forbidden))
            for token in [nil, "nobody"] {
                let unknown = try await api.cancel(id, token: token)
                #expect((unknown.status, unknown.body) == (401, ""))
            }
            for path in ["/v1/events/99", "/v1/events/x", "/v1/events/-1"] {
                let absent = try await api.send(.delete, path, token: "owner")
                #expect((absent.status, absent.body) == (404, notFound))
            }
            #expect(try await api.send(.get, "/v1/events/\(id)").status == 200)
        }
    }
}

@Suite struct `A hidden event over HTTP` {
    @Test func `a hidden event is not there for others, and hidden for its owner, until it is unhidden`() async throws {
        for hasIndex in [true, false] {
            try await TestAPI.with(hasIndex: hasIndex) { api in
                let id = try await api.createEvent("owner")
                try await api.signUp("guest")
                let before = try await api.send(.get, "/v1/events/\(id)")
                try await api.hide(id)
                for (token, expected) in [
                    (nil, (404, notFound)), ("guest", (404, notFound)), ("nobody", (404, notFound)), ("owner", (410, hidden)),
                ] as [(String?, (Int, String))] {
                    let shown = try await api.send(.get, "/v1/events/\(id)", token: token)
                    #expect((shown.status, shown.body) == expected, "\(token ?? "-")")
                    #expect(shown.header("cache-control") == "no-store")
                }
                for (token, expected) in [("guest", (404, notFound)), ("owner", (410, hidden))] {
                    let update = try await api.send(.patch, "/v1/events/\(id)", token: token, `Changing an event`.required)
                    #expect((update.status, update.body) == expected)
                    let cancellation = try await api.cancel(id, token: token)
                    #expect((cancellation.status, cancellation.body) == expected)
                }
                try await api.unhide(id)
                let after = try await api.send(.get, "/v1/events/\(id)")
                #expect((after.status, after.body) == (200, before.body))
                #expect(after.header("etag")?.unmarked == "\"3\"")
            }
        }
    }

    @Test func `a cancelled event that is hidden and unhidden stays cancelled`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            #expect(try await api.cancel(id).status == 200)
            try await api.hide(id)
            #expect(try await api.send(.get, "/v1/events/\(id)").status == 404)
            #expect(try await api.send(.get, "/v1/events/\(id)", token: "owner").body == hidden)
            try await api.unhide(id)
            #expect(try await api.send(.get, "/v1/events/\(id)").body == cancelled)
        }
    }
}

@Suite struct `Listing the caller's own events` {
    private static let path = "/v1/users/me/events"

    private static func ids(_ answer: TestAPI.Answer) -> [String] {
        guard case .array(let events) = answer.json else { return ["no array"] }
        return events.map { if case .number(let digits)? = $0["id"] { digits } else { "?" } }
    }

    @Test func `the events are those that GET returns, the newest first, without cancelled and hidden ones`() async throws {
        for hasIndex in [true, false] {
            try await TestAPI.with(hasIndex: hasIndex) { api in
                let ids = try await [
                    api.createEvent("owner"), api.createEvent("guest"), api.createEvent("owner"), api.createEvent("owner"),
                    api.createEvent("owner"),
                ]
                #expect(try await api.cancel(ids[2]).status == 200)
                try await api.hide(ids[3])
                let own = try await api.send(.get, Self.path, token: "owner")
                let single = try await [api.send(.get, "/v1/events/\(ids[4])"), api.send(.get, "/v1/events/\(ids[0])")]
                #expect((own.status, own.body) == (200, "[\(single[0].body),\(single[1].body)]"))
                #expect(own.header("link") == nil)
                #expect(own.header("cache-control") == "no-store")
                #expect(try await Self.ids(api.send(.get, Self.path, token: "guest")) == ["2"])
            }
        }
    }

    @Test func `a caller without events gets an empty list`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("guest")
            let answer = try await api.send(.get, Self.path, token: "guest")
            #expect((answer.status, answer.body) == (200, "[]"))
        }
    }

    @Test func `the list needs a known token`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent("owner")
            for token in [nil, "nobody"] {
                let answer = try await api.send(.get, Self.path, token: token)
                #expect((answer.status, answer.body) == (401, ""))
            }
        }
    }

    @Test func `Link leads through all pages, even if the event at its cursor is cancelled meanwhile`() async throws {
        try await TestAPI.with { api in
            for _ in 0..<5 { _ = try await api.createEvent("owner") }
            let first = try await api.send(.get, Self.path + "?limit=2", token: "owner")
            #expect(Self.ids(first) == ["5", "4"])
            #expect(first.header("link") == #"</v1/users/me/events?limit=2&after=4>; rel="next""#)
            #expect(try await api.cancel(4).status == 200)
            let second = try await api.send(.get, Self.path + "?limit=2&after=4", token: "owner")
            #expect(Self.ids(second) == ["3", "2"])
            let last = try await api.send(.get, Self.path + "?limit=2&after=2", token: "owner")
            #expect(Self.ids(last) == ["1"])
            #expect(last.header("link") == nil)
        }
    }

    @Test func `an unusable limit or cursor gets 422`() async throws {
        let cases: [(query: String, error: String)] = [
            ("limit=0", "Limit must be between 1 and 1000"), ("limit=1001", "Limit must be between 1 and 1000"),
            ("limit=x", "Limit is not a number"), ("limit=1.5", "Limit is not a whole number"),
            ("after=x", "After is not a valid cursor"), ("after=0", "After is not a valid cursor"),
            ("after=%2B1", "After is not a valid cursor"),
        ]
        try await TestAPI.with { api in
            _ = try await api.createEvent("owner")
            for (query, error) in cases {
                let answer = try await api.send(.get, Self.path + "?" + query, token: "owner")
                #expect(
                    (answer.status, answer.body) == (422, #"{"message":"Validation Failed","errors":["\#(error)"]}"#), "\(query)")
            }
        }
    }

    @Test func `the list shows the position that the client names, or the client gets 503`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let created = try await api.send(.get, Self.path, token: "owner", headers: ["humon-position": "2"])
            #expect(Self.ids(created) == ["\(id)"])
            #expect(try await api.send(.get, Self.path, token: "owner", headers: ["humon-position": "99"]).status == 503)
            #expect(try await api.send(.get, Self.path, token: "owner", headers: ["humon-position": "x"]).status == 400)
        }
    }
}

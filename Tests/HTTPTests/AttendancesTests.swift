import Encoding
import EventStore
import HTTPTypes
import TestDatabase
import TestHTTP
import Testing

@testable import HTTP

private let cancelled = #"{"message":"Event Cancelled"}"#

@Suite struct `Attending and leaving by PUT and DELETE` {
    @Test func `a user attends, leaves and comes back, and twice is once`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))/attendance"
            try await api.signUp("guest")
            for method in [HTTPRequest.Method.put, .put, .delete, .delete, .put] {
                let answer = try await api.send(method, path, token: "guest")
                #expect((answer.status, answer.body) == (200, "{}"))
                let shown = try await api.send(.get, path, token: "guest")
                let isAttending = method == .put
                #expect(shown.body == #"{"count":\#(isAttending ? 1 : 0),"attending":\#(isAttending)}"#)
            }
            let recorded = try await api.log.read(stream: StreamName("attendance-1-2"))
            #expect(recorded.map(\.envelope.version) == [1, 2, 3])
        }
    }

    @Test func `PUT and POST are the same attendance`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let put = try await api.send(.put, "/v1/events/\(id)/attendance", token: "owner")
            let post = try await api.send(.post, "/v1/attendances", token: "owner", #"{"event":{"id":\#(id)}}"#)
            #expect(put.header("humon-position") == "3")
            #expect((post.status, post.body, post.header("humon-position")) == (200, "{}", "3"))
        }
    }

    @Test func `a repeated key gets the first response, and another request under it 422`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))/attendance"
            let key = ["idempotency-key": "k"]
            let first = try await api.send(.put, path, token: "owner", headers: key)
            #expect(try await api.send(.delete, path, token: "owner").status == 200)
            let again = try await api.send(.put, path, token: "owner", headers: key)
            #expect((again.status, again.body) == (200, "{}"))
            #expect(again.header("humon-position") == first.header("humon-position"))
            #expect(try await api.send(.get, path, token: "owner").body == #"{"count":0,"attending":false}"#)
            #expect(try await api.send(.delete, path, token: "owner", headers: key).status == 422)
        }
    }

    @Test func `an unknown event gets 404, an unknown token 401, and an unreadable body 400`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            for method in [HTTPRequest.Method.put, .delete] {
                for unknown in ["7", "0", "x", "-1", "99999999999999999999"] {
                    let answer = try await api.send(method, "/v1/events/\(unknown)/attendance", token: "owner")
                    #expect((answer.status, answer.body) == (404, notFound), "\(method) \(unknown)")
                }
                let path = "/v1/events/\(id)/attendance"
                for token in [nil, "nobody"] {
                    #expect(try await api.send(method, path, token: token).status == 401, "\(method)")
                }
                #expect(try await api.send(method, path, token: "nobody", "{").status == 400, "\(method)")
            }
        }
    }

    @Test func `a cancelled event gets 410, and its guests may leave`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let path = "/v1/events/\(id)/attendance"
            try await api.signUp("guest")
            #expect(try await api.send(.put, path, token: "guest").status == 200)
            #expect(try await api.send(.delete, "/v1/events/\(id)", token: "owner").status == 200)
            let answers = [
                try await api.send(.put, path, token: "owner"), try await api.send(.put, path, token: "guest"),
                try await api.send(.post, "/v1/attendances", token: "owner", #"{"event":{"id":\#(id)}}"#),
                try await api.send(.get, path), try await api.send(.get, path, token: "guest"),
                try await api.send(.get, path + "s", token: "owner"),
            ]
            #expect(answers.map(\.status) == Array(repeating: 410, count: answers.count))
            #expect(Set(answers.map(\.body)) == [cancelled])
            for _ in 0..<2 { #expect(try await api.send(.delete, path, token: "guest").status == 200) }
            #expect(try await api.log.read(stream: StreamName("attendance-1-2")).count == 2)
        }
    }
}

@Suite struct `Reading attendances` {
    @Test func `the count is the same with and without the counts in memory`() async throws {
        for hasIndex in [true, false] {
            try await TestAPI.with(hasIndex: hasIndex) { api in
                let path = "/v1/events/\(try await api.createEvent("owner"))/attendance"
                #expect(try await api.send(.get, path).body == #"{"count":0,"attending":false}"#)
                var position: String?
                for guest in ["a", "b", "c"] {
                    try await api.signUp(guest)
                    position = try await api.send(.put, path, token: guest).header("humon-position")
                }
                let headers = ["humon-position": try #require(position)]
                let all = try await api.send(.get, path, headers: headers)
                #expect((all.status, all.body) == (200, #"{"count":3,"attending":false}"#))
                #expect(all.header("cache-control") == "no-store")
                #expect(try await api.send(.get, path, token: "b").body == #"{"count":3,"attending":true}"#)
                #expect(try await api.send(.get, path, token: "owner").body == #"{"count":3,"attending":false}"#)
                #expect(try await api.send(.get, path, token: "nobody").status == 401)
                #expect(try await api.send(.get, path, headers: ["humon-position": "1000"]).status == 503)
                #expect(try await api.send(.get, "/v1/events/7/attendance").status == 404)
            }
        }
    }

    @Test func `a request without a token is answered from memory, without a task`() async throws {
        try await TestAPI.with { api in
            let path = "/v1/events/\(try await api.createEvent("owner"))/attendance"
            #expect(try await api.send(.put, path, token: "owner").status == 200)
            let request = HTTPRequest(method: .get, scheme: nil, authority: nil, path: path)
            try await eventually("the counts in memory") {
                TestAPI.Answer(immediately: request, by: api.router)?.body == #"{"count":1,"attending":false}"#
            }
            let answer = try #require(TestAPI.Answer(immediately: request, by: api.router))
            #expect(answer.header("humon-position") == "3")
        }
    }

    @Test func `the owner alone pages through the attendees`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let path = "/v1/events/\(id)/attendances"
            #expect(try await api.send(.get, path, token: "owner").body == "[]")
            for guest in ["a", "b", "c"] {
                try await api.signUp(guest)
                #expect(try await api.send(.put, "/v1/events/\(id)/attendance", token: guest).status == 200)
            }
            let first = try await api.send(.get, path + "?limit=2", token: "owner")
            #expect((first.status, first.body) == (200, #"[{"user":{"id":2}},{"user":{"id":3}}]"#))
            #expect(first.header("link") == #"</v1/events/1/attendances?limit=2&after=3>; rel="next""#)
            let second = try await api.send(.get, path + "?limit=2&after=3", token: "owner")
            #expect((second.body, second.header("link")) == (#"[{"user":{"id":4}}]"#, nil))
            #expect(try await api.send(.get, path, token: "a").status == 403)
            for token in [nil, "nobody"] { #expect(try await api.send(.get, path, token: token).status == 401) }
            #expect(try await api.send(.get, "/v1/events/7/attendances", token: "owner").status == 404)
        }
    }

    @Test func `the caller's attendances are shown as GET shows the events, newest first`() async throws {
        try await TestAPI.with { api in
            var events: [Int64] = []
            for number in 1...3 {
                events.append(try await api.createEvent("owner", name: "Party \(number)"))
                #expect(try await api.send(.put, "/v1/events/\(number)/attendance", token: "owner").status == 200)
                // The times of the attendances are the order of the list.
                try await Task.sleep(for: .milliseconds(3))
            }
            let shown = try await events.asyncMap { try await api.send(.get, "/v1/events/\($0)").body }
            let list = "/v1/users/me/attendances"
            #expect(try await api.send(.get, list, token: "owner").body == "[\(shown[2]),\(shown[1]),\(shown[0])]")
            let first = try await api.send(.get, list + "?limit=2", token: "owner")
            #expect(first.body == "[\(shown[2]),\(shown[1])]")
            let link = try #require(first.header("link")?.wholeMatch(of: /<([^>]*)>; rel="next"/)).1
            // The cursor stays valid if its event leaves the list.
            #expect(try await api.send(.delete, "/v1/events/2/attendance", token: "owner").status == 200)
            let second = try await api.send(.get, String(link), token: "owner")
            #expect((second.body, second.header("link")) == ("[\(shown[0])]", nil))
            #expect(try await api.send(.delete, "/v1/events/3", token: "owner").status == 200)
            #expect(try await api.send(.get, list, token: "owner").body == "[\(shown[0])]")
            for token in [nil, "nobody"] { #expect(try await api.send(.get, list, token: token).status == 401) }
        }
    }

    @Test func `an unusable limit or cursor gets 422`() async throws {
        try await TestAPI.with { api in
            _ = try await api.createEvent("owner")
            for path in ["/v1/events/1/attendances", "/v1/users/me/attendances"] {
                for (query, errors) in [
                    ("limit=0", #""Limit must be between 1 and 1000""#), ("limit=1001", #""Limit must be between 1 and 1000""#),
                    ("limit=1.5", #""Limit is not a whole number""#), ("limit=x", #""Limit is not a number""#),
                    ("after=x", #""After is not a valid cursor""#), ("after=-1", #""After is not a valid cursor""#),
                    ("limit=x&after=x", #""Limit is not a number","After is not a valid cursor""#),
                ] {
                    let answer = try await api.send(.get, "\(path)?\(query)", token: "owner")
                    #expect(
                        (answer.status, answer.body) == (422, #"{"message":"Validation Failed","errors":[\#(errors)]}"#),
                        "\(path) \(query)")
                }
                for query in ["limit=1", "limit=1000", "limit=", "after=", "limit=1.0"] {
                    #expect(try await api.send(.get, "\(path)?\(query)", token: "owner").status == 200, "\(path) \(query)")
                }
            }
        }
    }
}

extension [Int64] {
    fileprivate func asyncMap<Value>(_ transform: (Int64) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

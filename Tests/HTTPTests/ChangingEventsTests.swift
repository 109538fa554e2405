import Encoding
import EventStore
import HTTPTypes
import TestDatabase
import Testing

@Suite struct `Changing an event` {
    static let whole =
        #"{"name":"Later","lat":1.5,"lon":2.5,"started_at":"2014-01-01T00:00:00Z","address":"Here","ended_at":"2014-01-02T00:00:00Z"}"#
    static let required = #"{"name":"Later","lat":1.5,"lon":2.5,"started_at":"2014-01-01T00:00:00Z"}"#

    @Test func `JSON replaces an event as a whole`() async throws {
        try await TestAPI.with { api in
            for method in [HTTPRequest.Method.patch, .put] {
                let id = try await api.createEvent("owner")
                let answer = try await api.send(method, "/v1/events/\(id)", token: "owner", Self.required)
                #expect((answer.status, answer.body) == (200, #"{"id":\#(id)}"#), "\(method)")
                #expect(
                    try await api.send(.get, "/v1/events/\(id)").body
                        == #"{"address":null,"ended_at":null,"id":\#(id),"lat":1.5,"lon":2.5,"name":"Later","started_at":"2014-01-01T00:00:00.000Z","owner":{"id":1}}"#,
                    "\(method)")
            }
        }
    }

    @Test func `a form replaces an event as a whole`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let body = "id=\(id)&name=Later&lat=1.5&lon=2.5&started_at=2014-01-01T00:00:00Z"
            let answer = try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: form, body)
            #expect(answer.status == 200)
            let event = try await api.send(.get, "/v1/events/\(id)")
            #expect(event.json?["address"] == .null)
            #expect(event.json?["name"] == "Later")
        }
    }

    @Test func `replacing an event needs all required fields`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let answer = try await api.send(.patch, "/v1/events/\(id)", token: "owner", #"{"name":"Later","lat":null}"#)
            #expect(answer.status == 422)
            #expect(
                answer.body
                    == #"{"message":"Validation Failed","errors":["Lat can't be blank","Lon can't be blank","Started at can't be blank"]}"#
            )
        }
    }

    @Test func `a merge patch keeps absent fields and clears null ones`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            #expect(try await api.send(.put, "/v1/events/\(id)", token: "owner", Self.whole).status == 200)
            let answer = try await api.send(
                .patch, "/v1/events/\(id)", token: "owner", type: mergePatch, #"{"name":"New","ended_at":null}"#
            )
            #expect((answer.status, answer.body) == (200, #"{"id":1}"#))
            #expect(
                try await api.send(.get, "/v1/events/\(id)").body
                    == #"{"address":"Here","ended_at":null,"id":1,"lat":1.5,"lon":2.5,"name":"New","started_at":"2014-01-01T00:00:00.000Z","owner":{"id":1}}"#
            )
        }
    }

    @Test func `a merge patch cannot clear a required field`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let answer = try await api.send(
                .patch, "/v1/events/\(id)", token: "owner", type: mergePatch, #"{"name":null,"lat":91}"#
            )
            #expect(answer.status == 422)
            #expect(
                answer.body
                    == #"{"message":"Validation Failed","errors":["Lat must be between -90 and 90","Name can't be blank"]}"#
            )
        }
    }

    @Test func `a caller who is not the owner gets 403`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            try await api.signUp("guest")
            let answer = try await api.send(.patch, "/v1/events/\(id)", token: "guest", Self.required)
            #expect((answer.status, answer.body) == (403, #"{"message":"Forbidden"}"#))
            #expect(try await api.send(.get, "/v1/events/\(id)").json?["name"] == "Party")
        }
    }

    @Test func `an owner in the body is ignored`() async throws {
        let cases: [(type: String, body: String)] = [
            (
                "application/json",
                #"{"id":9,"owner":{"id":2},"user":{"id":2},"name":"N","lat":1,"lon":2,"started_at":"2014-01-01T00:00:00Z"}"#
            ),
            (form, "id=9&owner[id]=2&user[id]=2&name=N&lat=1&lon=2&started_at=2014-01-01T00:00:00Z"),
            ("application/merge-patch+json", #"{"id":9,"owner":{"id":2},"user":{"id":2}}"#),
        ]
        try await TestAPI.with { api in
            for token in ["owner", "guest"] { try await api.signUp(token) }
            for (type, body) in cases {
                let id = try await api.createEvent("owner")
                let answer = try await api.send(.patch, "/v1/events/\(id)", token: "owner", type: type, body)
                #expect((answer.status, answer.id) == (200, id), "\(type)")
                #expect(try await api.send(.get, "/v1/events/\(id)").json?["owner"] == ["id": .number("1")], "\(type)")
            }
        }
    }

    @Test func `the body is checked first, then the token, then the event`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            #expect(try await api.send(.patch, "/v1/events/9", Self.required).status == 401)
            #expect(try await api.send(.patch, "/v1/events/9", token: "nobody", "{}").status == 422)
            #expect(try await api.send(.patch, "/v1/events/9", token: "nobody", Self.required).status == 401)
            let unknown = try await api.send(.patch, "/v1/events/9", token: "owner", Self.required)
            #expect((unknown.status, unknown.body) == (404, notFound))
        }
    }
}

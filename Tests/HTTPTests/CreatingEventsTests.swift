import Encoding
import EventStore
import HTTPTypes
import TestHTTP
import Testing

@Suite struct `Creating an event over HTTP` {
    static let body = #"{"name":"Party","lat":37.76,"lon":-122.43,"started_at":"2013-09-16T00:00:00.000Z"}"#
    static let allBlank =
        #"{"message":"Validation Failed","errors":["Lat can't be blank","Lon can't be blank","Name can't be blank","Started at can't be blank"]}"#

    @Test(arguments: [TestingSetup.router, .live])
    func `the response to a creation contains the id only`(setup: TestingSetup) async throws {
        try await TestAPI.with(setup) { api in
            try await api.signUp("owner")
            let answer = try await api.send(.post, "/v1/events", token: "owner", Self.body)
            #expect(answer.status == 200)
            #expect(answer.body == #"{"id":1}"#)
            let event = try await api.send(.get, "/v1/events/1")
            #expect(
                event.body
                    == #"{"address":null,"ended_at":null,"id":1,"lat":37.76,"lon":-122.43,"name":"Party","started_at":"2013-09-16T00:00:00.000Z","owner":{"id":1}}"#
            )
        }
    }

    @Test func `an end before the start is refused for clients that ask for problem details only`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let body =
                #"{"name":"P","lat":1,"lon":2,"started_at":"2013-09-16T02:00:00Z","ended_at":"2013-09-16T01:00:00Z"}"#
            let headers = [
                "accept": "application/json, application/problem+json", "content-type": "application/json",
                "tb-device-token": "owner",
            ]
            for (method, path) in [(HTTPRequest.Method.post, "/v1/events"), (.put, "/v1/events/1")] {
                let refused = try await api.send(method, path, headers: headers, bytes: Array(body.utf8))
                #expect(refused.status == 422)
                #expect(
                    refused.body.contains(
                        #""errors":[{"pointer":"/ended_at","code":"out_of_range","detail":"Ended at must not be before started at"}]"#
                    ))
                #expect(try await api.send(method, path, token: "owner", body).body == #"{"id":1}"#)
            }
        }
    }

    @Test func `unknown fields are ignored`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("somebody")
            try await api.signUp("owner")
            let answer = try await api.send(
                .post, "/v1/events", token: "owner",
                #"{"id":77,"owner":{"id":1},"user":{"device_token":"somebody"},"name":"P","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            )
            #expect(answer.body == #"{"id":1}"#)
            #expect(try await api.send(.get, "/v1/events/1").json?["owner"]?["id"] == .number("2"))
        }
    }

    @Test func `a form creates an event`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let answer = try await api.send(
                .post, "/v1/events", token: "owner", type: form,
                "name=Caf%C3%A9+night&lat=37.7&lon=-122.4&started_at=2013-09-16T02%3A00%3A00%2B02%3A00&address=85+2nd+Street&ended_at="
            )
            #expect(answer.body == #"{"id":1}"#)
            #expect(
                try await api.send(.get, "/v1/events/1").body
                    == #"{"address":"85 2nd Street","ended_at":null,"id":1,"lat":37.7,"lon":-122.4,"name":"Café night","started_at":"2013-09-16T00:00:00.000Z","owner":{"id":1}}"#
            )
        }
    }

    @Test func `numbers as strings and times of any RFC 3339 form are accepted`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let answer = try await api.send(
                .post, "/v1/events", token: "owner",
                #"{"name":"P","lat":"37.7","lon":" -122.4 ","started_at":"2013-09-16t02:00:00.123456+02:00","ended_at":"2013-09-16T05:00:00Z"}"#
            )
            let event = try await api.send(.get, "/v1/events/\(try #require(answer.id))")
            #expect(event.json?["lat"] == .number("37.7"))
            #expect(event.json?["started_at"] == "2013-09-16T00:00:00.123Z")
            #expect(event.json?["ended_at"] == "2013-09-16T05:00:00.000Z")
        }
    }

    @Test func `times as Ruby and Foundation write them are accepted, and any owner is ignored`() async throws {
        let cases: [(type: String, body: String)] = [
            (
                "application/json",
                #"{"name":"Party","lat":1,"lon":2,"started_at":"2014-04-16 17:13:47 UTC","owner":{"id":"a-token"}}"#
            ), (form, "name=Party&lat=1&lon=2&started_at=2014-04-16+19%3A13%3A47+%2B0200&owner%5Bid%5D=a-token"),
        ]
        try await TestAPI.with { api in
            try await api.signUp("owner")
            for (type, body) in cases {
                let created = try await api.send(.post, "/v1/events", token: "owner", type: type, body)
                #expect(created.status == 200, "\(type)")
                let id = try #require(created.id, "\(type)")
                let event = try await api.send(.get, "/v1/events/\(id)").json
                #expect(event?["started_at"] == "2014-04-16T17:13:47.000Z", "\(type)")
                #expect(event?["owner"] == ["id": .number("1")], "\(type)")
            }
        }
    }

    @Test func `coordinates keep their last digit and names their last emoji`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let answer = try await api.send(
                .post, "/v1/events", token: "owner",
                #"{"name":"\uD83C\uDF89 f\u00eate \"x\"","lat":37.760000000000005,"lon":-122.43000000000002,"started_at":"2013-09-16T00:00:00Z"}"#
            )
            let event = try await api.send(.get, "/v1/events/\(try #require(answer.id))")
            #expect(event.body.contains(#""lat":37.760000000000005,"lon":-122.43000000000002,"name":"🎉 fête \"x\"""#))
        }
    }

    @Test func `a creation without required fields gets 422 in the words of the v1 contract`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            for body in ["{}", "", #"{"name":"   ","lat":null,"lon":"","started_at":" "}"#] {
                let answer = try await api.send(.post, "/v1/events", token: "owner", body)
                #expect(answer.status == 422, "\(body)")
                #expect(answer.body == Self.allBlank, "\(body)")
                #expect(try await api.log.tail() == 1, "\(body)")
            }
        }
    }

    @Test func `a creation without a token gets an empty 401, whatever the body`() async throws {
        try await TestAPI.with { api in
            for body in [Self.body, "{}", "{broken"] {
                let answer = try await api.send(.post, "/v1/events", body)
                #expect(answer.status == 401)
                #expect(answer.body.isEmpty)
            }
        }
    }

    @Test func `a creation beyond the user's quota of live events gets 422, and a cancellation makes room`() async throws {
        try await TestAPI.with(eventsPerUser: 2) { api in
            let (first, _) = (try await api.createEvent(), try await api.createEvent())
            let event = #"{"name":"x","lat":1,"lon":1,"started_at":"2030-01-01T00:00:00Z"}"#
            let refused = try await api.send(.post, "/v1/events", token: "owner", event)
            #expect(refused.status == 422)
            #expect(refused.body == #"{"message":"Validation Failed","errors":["Events are too many (maximum is 2)"]}"#)
            let problem = try await api.send(
                .post, "/v1/events", headers: ["accept": "application/problem+json", "tb-device-token": "owner"],
                bytes: Array(event.utf8))
            #expect(problem.status == 422 && problem.body.contains(#""code":"too_many""#), "\(problem.body)")
            // Another user has a quota of its own, and other writes go on.
            _ = try await api.createEvent("other")
            #expect(try await api.send(.put, "/v1/events/\(first)", token: "owner", event).status == 200)
            // A hidden event is as little live as a cancelled one.
            #expect(try await api.cancel(first).status == 200)
            let key = ["idempotency-key": "k"]
            let created = try await api.send(.post, "/v1/events", token: "owner", event, headers: key)
            #expect(created.status == 200)
            #expect(try await api.send(.post, "/v1/events", token: "owner", event).status == 422)
            let repeated = try await api.send(.post, "/v1/events", token: "owner", event, headers: key)
            #expect((repeated.status, repeated.body) == (200, created.body))
        }
    }

    @Test func `a creation with an unknown token gets 401, after the body is checked`() async throws {
        try await TestAPI.with { api in
            let invalid = try await api.send(.post, "/v1/events", token: "nobody", "{}")
            let broken = try await api.send(.post, "/v1/events", token: "nobody", "{")
            let valid = try await api.send(.post, "/v1/events", token: "nobody", Self.body)
            #expect((invalid.status, invalid.body) == (422, Self.allBlank))
            #expect(broken.status == 400)
            #expect((valid.status, valid.body) == (401, ""))
            #expect(try await api.log.tail() == 0)
        }
    }

    @Test func `the token is read under each of its header names`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            for header in ["tb-device-token", "tb-auth-token", "x-device-token"] {
                let answer = try await api.send(.post, "/v1/events", headers: [header: "owner"], bytes: Array(Self.body.utf8))
                #expect(answer.status == 200, "\(header)")
            }
        }
    }

    @Test func `the actor, the request id and the trace id of a trusted peer are recorded`() async throws {
        // The loopback address is a trusted peer.
        try await TestAPI.with(.live) { api in
            try await api.signUp("owner")
            let trace = "0af7651916cd43dd8448eb211c80319c"
            let answer = try await api.send(
                .post, "/v1/events", token: "owner", Self.body,
                headers: ["x-request-id": "phone-7.1", "traceparent": "00-\(trace)-b7ad6b7169203331-01"]
            )
            #expect(answer.header("x-request-id") == "phone-7.1")
            let recorded = try #require(try await api.log.read(after: 1, limit: 1).first)
            #expect(try recorded.envelope.metadata.values().requestID == "phone-7.1")
            #expect(try recorded.envelope.metadata.values().actor == 1)
            #expect(try recorded.envelope.metadata.values().traceID == trace)
        }
    }

    @Test func `the request id of an untrusted peer is replaced`() async throws {
        // Without a connection the peer's address is unknown.
        try await TestAPI.with(.router) { api in
            let trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
            let answer = try await api.send(
                .post, "/v1/users",
                headers: ["tb-app-secret": TestAPI.secret, "x-request-id": "phone-7.1", "traceparent": trace])
            let recorded = try #require(try await api.log.read(after: 0, limit: 1).first)
            let name = try #require(answer.header("x-request-id"))
            #expect(name != "phone-7.1")
            #expect(try recorded.envelope.metadata.values().requestID == name)
            #expect(try recorded.envelope.metadata.values().traceID == nil)
        }
    }
}

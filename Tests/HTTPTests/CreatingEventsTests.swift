import EventStore
import HTTPTypes
import TestHTTP
import Testing

@Suite struct `Creating an event over HTTP` {
    static let body = #"{"name":"Party","lat":37.76,"lon":-122.43,"started_at":"2013-09-16T00:00:00.000Z"}"#

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

import EventStore
import HTTPTypes
import TestHTTP
import Testing

@Suite struct `Creating an event over HTTP` {
    static let body = #"{"name":"Party","lat":37.76,"lon":-122.43,"started_at":"2013-09-16T00:00:00.000Z"}"#

    @Test(.api(.live)) func `the actor, the request id and the trace id of a trusted peer are recorded`() async throws {
        // The loopback address is a trusted peer.
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

    @Test(.api(.router)) func `the request id of an untrusted peer is replaced`() async throws {
        // Without a connection the peer's address is unknown.
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

import HTTPTypes
import Testing

/// `Transcripts/settings` shows the other limits.
@Suite struct `Limiting the rate of requests` {
    private static let event = #"{"name":"x","lat":1,"lon":1,"started_at":"2030-01-01T00:00:00Z"}"#

    @Test func `a new token gives its user no further writes`() async throws {
        try await TestAPI.with(writesPerMinute: 5) { api in
            try await api.signUp("phone")
            var (token, granted) = ("phone", 0)
            for number in 1...4 {
                for key in [[:], ["idempotency-key": "k\(number)"]] {
                    let answer = try await api.send(.post, "/v1/events", token: token, Self.event, headers: key)
                    granted += answer.status == 200 ? 1 : 0
                }
                let rotated = try await api.send(
                    .post, "/v1/users/me/token", token: token, #"{"device_token":"phone\#(number)"}"#)
                if rotated.status == 200 { (token, granted) = ("phone\(number)", granted + 1) }
            }
            #expect(granted == 5)
            #expect(try await api.send(.post, "/v1/events", token: token, Self.event).status == 429)
        }
    }
}

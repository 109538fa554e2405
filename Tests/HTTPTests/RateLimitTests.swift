import HTTPTypes
import TestHTTP
import Testing

@Suite struct `Limiting the rate of requests` {
    private static let tooMany = #"{"message":"Too Many Requests"}"#

    @Test func `a device that exceeds the limit of writes gets 429 with Retry-After`() async throws {
        try await TestAPI.with(writesPerMinute: 2) { api in
            try await api.signUp("phone")
            let answers = try await [1, 2, 3].mapAsync { _ in
                try await api.send(
                    .post, "/v1/events", token: "phone", #"{"name":"x","lat":1,"lon":1,"started_at":"2030-01-01T00:00:00Z"}"#)
            }
            #expect(answers.map(\.status) == [200, 200, 429])
            #expect(
                answers.map { $0.header("ratelimit") } == [#""writes";r=1;t=30"#, #""writes";r=0;t=60"#, #""writes";r=0;t=60"#])
            #expect(answers.allSatisfy { $0.header("ratelimit-policy") == #""writes";q=2;w=60"# })
            #expect((answers[2].body, answers[2].header("retry-after")) == (Self.tooMany, "30"))
            // Other devices may write, and every caller may read.
            #expect(try await api.send(.post, "/v1/attendances", token: "tablet", "{}").status == 422)
            #expect(try await api.send(.get, "/v1/events/1").status == 200)
        }
    }

    @Test func `an address that exceeds the limit of sign-ups gets 429`() async throws {
        try await TestAPI.with(.live, signUpsPerMinute: 1) { api in
            func signUp(_ address: String, secret: String = TestAPI.secret) async throws -> TestAPI.Answer {
                try await api.send(.post, "/v1/users", headers: ["tb-app-secret": secret, "x-forwarded-for": address])
            }
            #expect(try await signUp("198.51.100.1").status == 200)
            let second = try await signUp("198.51.100.1")
            #expect((second.status, second.body, second.header("retry-after")) == (429, Self.tooMany, "60"))
            #expect(second.header("ratelimit") == #""sign-ups";r=0;t=60"#)
            #expect(try await signUp("198.51.100.2").status == 200)
            #expect(try await signUp("2001:db8:1:2::3").status == 200)
            #expect(try await signUp("2001:db8:1:2:ffff::4").status == 429)
            // The route stays hidden from callers without the secret.
            #expect(try await signUp("198.51.100.1", secret: "wrong").status == 404)
        }
    }

    @Test func `without a limit no request gets 429`() async throws {
        try await TestAPI.with { api in
            for _ in 0..<20 {
                let answer = try await api.signUp("phone")
                #expect((answer.status, answer.header("ratelimit")) == (200, nil))
            }
        }
    }
}

extension Array {
    fileprivate func mapAsync<Value>(_ transform: (Element) async throws -> Value) async rethrows -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}

import Encoding
import HTTPTypes
import TestHTTP
import Testing

@testable import HTTP

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
            #expect((answers[2].body, answers[2].header("retry-after")) == (Self.tooMany, "30"))
            // Other devices may write, and every caller may read.
            #expect(try await api.send(.post, "/v1/attendances", token: "tablet", "{}").status == 422)
            #expect(try await api.send(.get, "/v1/events/1").status == 200)
        }
    }

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

    @Test func `a device with two accounts' tokens is limited for each account, whatever the token`() async throws {
        try await TestAPI.with(writesPerMinute: 2) { api in
            let first = try await api.signUpAccount()
            let signedIn = try await api.signIn()
            guard case .string(let second) = signedIn.json?["token"] else { throw TestAPI.UnexpectedAnswer(answer: signedIn) }
            func create(_ token: String) async throws -> Int {
                let headers = ["tb-auth-token": token]
                return try await api.send(.post, "/v1/tasks", #"{"task":{"title":"Buy milk"}}"#, headers: headers).status
            }
            var statuses: [Int] = []
            for token in [first, second, first, second] { statuses.append(try await create(token)) }
            #expect(statuses == [200, 200, 429, 429])
            let other = try await api.signUpAccount("bob@example.org")
            #expect(try await create(other) == 200)
        }
    }

    @Test func `an address is limited before its tokens are known`() async throws {
        try await TestAPI.with(.live, addressWritesPerMinute: 3) { api in
            func write(_ address: String, _ token: String) async throws -> Int {
                let headers = ["x-forwarded-for": address]
                return try await api.send(.post, "/v1/events", token: token, Self.event, headers: headers).status
            }
            var statuses: [Int] = []
            for number in 1...4 { statuses.append(try await write("2001:db8:1:2::\(number)", "guess\(number)")) }
            #expect(statuses == [401, 401, 401, 429])
            #expect(try await write("2001:db8:1:3::1", "guess") == 401)
        }
    }

    @Test func `unknown tokens of an address count, and then every unknown token of it gets 429`() async throws {
        try await TestAPI.with(.live, reads: .devices, writesPerMinute: 3) { api in
            try await api.signUp("phone")
            func send(_ method: HTTPRequest.Method, _ path: String, _ token: String, from address: String) async throws -> Int {
                let headers = ["x-forwarded-for": address]
                return try await api.send(method, path, token: token, method == .post ? Self.event : "", headers: headers).status
            }
            // A write of the known device, which the node remembers from then on.
            #expect(try await send(.post, "/v1/events", "phone", from: "198.51.100.1") == 200)
            #expect(try await send(.post, "/v1/events", "guess1", from: "198.51.100.1") == 401)
            #expect(try await send(.get, "/v1/users/me", "guess2", from: "198.51.100.1") == 401)
            #expect(try await send(.get, "/v1/events/1", "guess3", from: "198.51.100.1") == 401)
            for path in ["/v1/users/me", "/v1/events/1", "/v1/users/me/events"] {
                #expect(try await send(.get, path, "guess4", from: "198.51.100.1") == 429, "\(path)")
            }
            #expect(try await send(.post, "/v1/events", "guess5", from: "198.51.100.1") == 429)
            let tasks = try await api.send(
                .get, "/v1/tasks", headers: ["tb-auth-token": "guess6", "x-forwarded-for": "198.51.100.1"])
            #expect(tasks.status == 429)
            // A remembered device still writes there, and other addresses ask as before.
            #expect(try await send(.post, "/v1/events", "phone", from: "198.51.100.1") == 200)
            #expect(try await send(.get, "/v1/users/me", "guess7", from: "198.51.100.2") == 401)
        }
    }

    @Test func `an address that exceeds the quota of sign-ups of a day gets 429 for every kind of sign-up`() async throws {
        try await TestAPI.with(.live, signUpsPerDay: 2) { api in
            func signUp(_ address: String) async throws -> TestAPI.Answer {
                try await api.send(.post, "/v1/users", headers: ["tb-app-secret": TestAPI.secret, "x-forwarded-for": address])
            }
            #expect(try await signUp("198.51.100.1").status == 200)
            let body = #"{"user":{"name":"Ann","email":"ann@example.org","password":"correct horse"}}"#
            let account = try await api.send(.post, "/v1/users", body, headers: ["x-forwarded-for": "198.51.100.1"])
            #expect(account.status == 200)
            let refused = try await signUp("198.51.100.1")
            #expect((refused.status, refused.header("retry-after")) == (429, "43200"))
            #expect(try await api.send(.post, "/v1/users", body, headers: ["x-forwarded-for": "198.51.100.1"]).status == 429)
            #expect(try await signUp("198.51.100.2").status == 200)
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
            #expect(try await signUp("198.51.100.2").status == 200)
            #expect(try await signUp("2001:db8:1:2::3").status == 200)
            #expect(try await signUp("2001:db8:1:2:ffff::4").status == 429)
            // The route stays hidden from callers without the secret.
            #expect(try await signUp("198.51.100.1", secret: "wrong").status == 404)
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

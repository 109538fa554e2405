import Encoding
import EventStore
import HTTPTypes
import Postgres
import TestDatabase
import TestHTTP
import Testing

@Suite struct `Signing up` {
    @Test func `a sign-up takes the secret under each of its header names`() async throws {
        try await TestAPI.with { api in
            for header in ["tb-app-secret", "x-app-secret", "TB-APP-SECRET"] {
                let answer = try await api.send(.post, "/v1/users", headers: [header: TestAPI.secret])
                #expect(answer.status == 200, "\(header)")
                #expect(answer.header("content-type") == "application/json; charset=utf-8", "\(header)")
            }
        }
    }

    @Test func `a sign-up without the secret gets an empty 404`() async throws {
        let cases: [[String: String]] = [
            [:], ["tb-app-secret": "wrong"], ["tb-app-secret": ""], ["tb-app-secret": "s3cret-of-the-ap"],
        ]
        try await TestAPI.with { api in
            for headers in cases {
                let answer = try await api.send(.post, "/v1/users", headers: headers)
                #expect(answer.status == 404, "\(headers)")
                #expect(answer.body.isEmpty, "\(headers)")
            }
        }
    }

    @Test func `a sign-up without a token gets a random UUID under both names`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.send(.post, "/v1/users", headers: ["tb-app-secret": TestAPI.secret])
            let again = try await api.send(.post, "/v1/users", headers: ["tb-app-secret": TestAPI.secret])
            let body = try #require(
                answer.body.wholeMatch(of: /\{"id":1,"device_token":"([0-9a-f-]{36})","auth_token":"([0-9a-f-]{36})"\}/))
            #expect(body.1 == body.2)
            #expect(again.id == 2)
            #expect(again.json?["device_token"] != answer.json?["device_token"])
        }
    }

    @Test func `a sign-up with a known token gets the same user every time`() async throws {
        let names: [String] = ["tb-device-token", "tb-auth-token", "x-device-token"]
        try await TestAPI.with { api in
            for (number, header) in zip(1..., names) {
                let headers = ["tb-app-secret": TestAPI.secret, header: "4F9E-device-\(number)"]
                let first = try await api.send(.post, "/v1/users", headers: headers)
                let second = try await api.send(.post, "/v1/users", headers: headers)
                #expect(
                    first.body
                        == #"{"id":\#(number),"device_token":"4F9E-device-\#(number)","auth_token":"4F9E-device-\#(number)"}"#,
                    "\(header)")
                #expect(second.body == first.body, "\(header)")
                #expect(try await api.log.tail() == Int64(number), "\(header)")
            }
        }
    }

    @Test func `200 concurrent sign-ups of one device create one user and get equal responses`() async throws {
        try await TestAPI.with { api in
            let answers = try await withThrowingTaskGroup(of: TestAPI.Answer.self) { group in
                for _ in 0..<200 { group.addTask { try await api.signUp("one-device") } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(Set(answers.map(\.body)).count == 1)
            #expect(Set(answers.map(\.status)) == [200])
            #expect(try await api.log.tail() == 1)
        }
    }

    @Test func `a sign-up with a token of more than 255 bytes gets 422`() async throws {
        try await TestAPI.with { api in
            let answer = try await api.signUp(String(repeating: "x", count: 256))
            #expect(answer.status == 422)
            #expect(
                answer.body == #"{"message":"Validation Failed","errors":["Device token is too long (maximum is 255 bytes)"]}"#)
            #expect(try await api.signUp(String(repeating: "x", count: 255)).status == 200)
        }
    }

    /// HTTP libraries replace bytes that are not UTF-8 by U+FFFD.
    @Test func `a sign-up with a token that is not printable ASCII gets 422`() async throws {
        try await TestAPI.with { api in
            for token in ["a\u{FFFD}", "\u{FFFD}", "caf\u{E9}", "a\tb"] {
                let answer = try await api.signUp(token)
                #expect(answer.status == 422, "\(token)")
                #expect(
                    answer.body
                        == #"{"message":"Validation Failed","errors":["Device token must consist of printable ASCII characters"]}"#,
                    "\(token)")
                #expect(try await api.log.tail() == 0, "\(token)")
            }
        }
    }

    @Test func `a sign-up under an idempotency key needs a token of the client`() async throws {
        try await TestAPI.with { api in
            let headers = ["tb-app-secret": TestAPI.secret, "idempotency-key": "1"]
            let refused = try await api.send(.post, "/v1/users", headers: headers)
            let errors = #"{"message":"Validation Failed","errors":["Device token can't be blank beside an Idempotency-Key"]}"#
            #expect((refused.status, refused.body) == (422, errors))
            #expect(try await api.log.tail() == 0)
            for _ in 0..<2 {
                let answer = try await api.send(.post, "/v1/users", token: "device", headers: headers)
                #expect((answer.status, answer.id) == (200, 1))
            }
        }
    }

    @Test func `a token may contain every printable ASCII character`() async throws {
        try await TestAPI.with { api in
            let token = "a" + String(decoding: 0x20...0x7E as ClosedRange<UInt8>, as: UTF8.self)
            let answer = try await api.signUp(token)
            #expect(answer.status == 200)
            #expect(answer.json?["device_token"] == .string(token))
        }
    }

    @Test func `a sign-up stores a digest and not the token`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("a-very-secret-token")
            let recorded = try #require(try await api.log.read(after: 0, limit: 10).first)
            #expect(!recorded.json.text.contains("a-very-secret-token"))
            let rows = try await api.database.withClient { client in
                try await client.query("SELECT u::text FROM users_v1.users AS u").decode(String.self)
            }
            #expect(rows.count == 1)
            #expect(!rows.joined().contains("a-very-secret-token"))
        }
    }

    @Test func `a sign-up ignores its body`() async throws {
        try await TestAPI.with(.live) { api in
            let answer = try await api.send(.post, "/v1/users", "not json at all", headers: ["tb-app-secret": TestAPI.secret])
            #expect(answer.status == 200)
        }
    }
}

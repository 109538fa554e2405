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
}

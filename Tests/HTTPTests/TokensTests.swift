import Encoding
import EventStore
import HTTPServer
import HTTPTypes
import TestHTTP
import Testing

@testable import HTTP

@Suite struct `The caller and the caller's token over HTTP` {
    private static func invalid(_ error: String) -> String { #"{"message":"Validation Failed","errors":["\#(error)"]}"# }

    @Test func `the caller gets the id of its user, and a request without a known token gets 401`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("other")
            try await api.signUp("phone")
            let answer = try await api.send(.get, "/v1/users/me", token: "phone")
            #expect((answer.status, answer.body) == (200, #"{"id":2}"#))
            #expect(answer.header("cache-control") == "no-store")
            for token in [nil, "", "nobody"] {
                let answer = try await api.send(.get, "/v1/users/me", token: token)
                #expect((answer.status, answer.body) == (401, ""))
            }
        }
    }

    @Test(arguments: [("application/json", #"{"device_token":"new"}"#), (form, "device_token=new")])
    func `a chosen token replaces the old one, and the same request again gets the same response`(
        type: String, body: String
    ) async throws {
        try await TestAPI.with { api in
            try await api.signUp("old")
            for _ in 0..<2 {
                let answer = try await api.send(.post, "/v1/users/me/token", token: "old", type: type, body)
                #expect((answer.status, answer.body) == (200, #"{"id":1,"device_token":"new","auth_token":"new"}"#))
                #expect(answer.header("humon-position") == "2")
            }
            #expect(try await api.send(.get, "/v1/users/me", token: "new").body == #"{"id":1}"#)
            for (method, path) in [(HTTPRequest.Method.get, "/v1/users/me"), (.post, "/v1/users/me/token")] {
                let answer = try await api.send(method, path, token: "old")
                #expect((answer.status, answer.body) == (401, ""))
            }
            let again = try await api.signUp("old")
            #expect((again.status, again.body) == (401, ""))
            #expect(try await api.signUp("new").id == 1)
            #expect(try await api.log.tail() == 2)
        }
    }

    @Test func `a replaced token gets 401 for a write that the server carried out or refused before`() async throws {
        let cases: [(method: HTTPRequest.Method, target: String, body: String, status: Int)] = [
            (.patch, "/v1/events/own", TestAPI.required, 200),
            (.patch, "/v1/events/1", TestAPI.required, 403),
            (.patch, "/v1/events/none", TestAPI.required, 404), (.delete, "/v1/events/own", "", 200),
            (.delete, "/v1/events/1", "", 403), (.put, "/v1/events/1/attendance", "", 200),
            (.delete, "/v1/events/1/attendance", "", 200), (.put, "/v1/events/99/attendance", "", 404),
            (.post, "/v1/events", TestAPI.required, 200),
            (.post, "/v1/attendances", #"{"event":{"id":1}}"#, 200), (.post, "/v1/attendances", #"{"event":{"id":1e30}}"#, 404),
        ]
        try await TestAPI.with { api in
            #expect(try await api.createEvent("neighbour") == 1)
            for (number, (method, target, body, status)) in cases.enumerated() {
                let (old, new) = ("old-\(number)", "new-\(number)")
                // The server remembers the user of the token from here on.
                let own = try await api.createEvent(old)
                let path = target.replacing("own", with: "\(own)")
                // The second time, a write that changes something the first time changes nothing.
                for _ in 0..<2 {
                    #expect(try await api.send(method, path, token: old, body).status == status, "\(method) \(target) \(body)")
                }
                #expect(
                    try await api.send(.post, "/v1/users/me/token", token: old, #"{"device_token":"\#(new)"}"#).status == 200,
                    "\(method) \(target) \(body)")
                let tail = try await api.log.tail()
                let answer = try await api.send(method, path, token: old, body)
                #expect((answer.status, answer.body) == (401, ""), "\(method) \(target) \(body)")
                #expect(try await api.log.tail() == tail, "\(method) \(target) \(body)")
                #expect(try await api.send(method, path, token: new, body).status == status, "\(method) \(target) \(body)")
            }
        }
    }

    @Test func `without a chosen token the caller gets a random UUID under both names`() async throws {
        let bodies: [String] = ["", "{}", #"{"device_token":null}"#, #"{"other":7}"#]
        try await TestAPI.with { api in
            for (number, body) in zip(1..., bodies) {
                let old = "old-\(number)"
                try await api.signUp(old)
                let answer = try await api.send(.post, "/v1/users/me/token", token: old, body)
                let tokens = try #require(
                    answer.body.wholeMatch(
                        of: /\{"id":([0-9]+),"device_token":"([0-9a-f-]{36})","auth_token":"([0-9a-f-]{36})"\}/), "\(body)")
                #expect(tokens.1 == "\(number)", "\(body)")
                #expect(tokens.2 == tokens.3, "\(body)")
                #expect(
                    try await api.send(.get, "/v1/users/me", token: String(tokens.2)).body == #"{"id":\#(number)}"#, "\(body)")
                #expect(try await api.send(.post, "/v1/users/me/token", token: old, body).status == 401, "\(body)")
            }
        }
    }

    @Test func `an unusable new token gets 422, from an unknown token too`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("old")
            let long = String(repeating: "x", count: 256)
            for (text, error) in [
                (#""\#(long)""#, "Device token is too long (maximum is 255 bytes)"),
                (#"" a""#, "Device token must consist of printable ASCII characters"),
                (#""""#, "Device token must consist of printable ASCII characters"),
                ("7", "Device token is not a text"), ("[]", "Device token is not a text"),
            ] {
                for token in ["old", "nobody"] {
                    let answer = try await api.send(
                        .post, "/v1/users/me/token", token: token, #"{"device_token":\#(text)}"#)
                    #expect((answer.status, answer.body) == (422, Self.invalid(error)))
                }
            }
            #expect(try await api.log.tail() == 1)
        }
    }

    @Test func `a token that a user has or had gets 422`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("first")
            try await api.signUp("other")
            #expect(try await api.send(.post, "/v1/users/me/token", token: "first", #"{"device_token":"old"}"#).status == 200)
            for used in ["old", "first", "other"] {
                let answer = try await api.send(
                    .post, "/v1/users/me/token", token: "old", #"{"device_token":"\#(used)"}"#)
                #expect((answer.status, answer.body) == (422, Self.invalid("Device token was used before")))
            }
            #expect(try await api.send(.get, "/v1/users/me", token: "old").body == #"{"id":1}"#)
        }
    }

    @Test func `a dead token is refused by writes, by reads for devices and at sign-up`() async throws {
        try await TestAPI.with(reads: .devices) { api in
            let id = try await api.createEvent("old")
            #expect(try await api.send(.get, "/v1/events/\(id)", token: "old").status == 200)
            #expect(try await api.send(.post, "/v1/users/me/token", token: "old", #"{"device_token":"new"}"#).status == 200)
            let answers = [
                try await api.send(.get, "/v1/events/\(id)", token: "old"),
                try await api.send(.patch, "/v1/events/\(id)", token: "old", TestAPI.required),
                try await api.send(.put, "/v1/events/\(id)/attendance", token: "old"), try await api.signUp("old"),
            ]
            #expect(answers.map(\.status) == [401, 401, 401, 401])
            #expect(answers.map(\.body) == ["", "", "", ""])
            #expect(try await api.send(.get, "/v1/events/\(id)", token: "new").status == 200)
        }
    }
}

@Suite struct `The secrets of the app` {
    private static func request(_ secret: String) -> Request {
        Request(
            head: HTTPRequest(
                method: .post, scheme: nil, authority: nil, path: "/v1/users",
                headerFields: [HTTPField.Name.appSecrets[0]: secret]))
    }

    @Test func `the secret and the previous one are accepted, and no other text`() {
        let secrets = AppSecret("new-secret", previous: "old-secret")
        for secret in ["old-secret", "new-secret"] { #expect(Self.request(secret).carries(secrets)) }
        for secret in ["", "old-secre", "old-secret,new-secret", ",", "old-secret,", "OLD-SECRET"] {
            #expect(!Self.request(secret).carries(secrets), "\(secret)")
        }
        #expect(!Self.request("old-secret").carries(AppSecret("new-secret")))
    }

    @Test(arguments: ["", "1234567", "12345678,", "1234 5678", "a,12345678", "geheimnöss", "12345678\u{7F}"])
    func `a short secret, and one with a comma, a space or another character, is unusable`(secret: String) {
        #expect(!AppSecret.isUsable(secret))
    }

    @Test(arguments: ["12345678", "s3cret-of-the-app", String(repeating: "f0", count: 32)])
    func `a secret of eight visible characters or more is usable`(secret: String) {
        #expect(AppSecret.isUsable(secret))
    }

    @Test func `a description of the secrets does not contain them`() {
        #expect("\(AppSecret("new", previous: "old"))" == "AppSecret(redacted)")
        #expect(String(reflecting: AppSecret("new", previous: "old")).contains("redacted"))
        #expect(Mirror(reflecting: AppSecret("new", previous: "old")).children.isEmpty)
    }
}

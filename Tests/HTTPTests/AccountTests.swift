import Accounts
import Encoding
import EventStore
import HTTPTypes
import TestHTTP
import Testing

@testable import HTTP

extension TestAPI {
    static let password = "correct horse"

    /// Signs an account up by a form, and returns its token.
    func signUpAccount(_ email: String = "ann@example.org") async throws -> String {
        let answer = try await send(
            .post, "/v1/users.json", type: form, "user[name]=Ann&user[email]=\(email)&user[password]=\(Self.password)")
        guard answer.status == 200, case .string(let token) = answer.json?["authentication_token"] else {
            throw UnexpectedAnswer(answer: answer)
        }
        return token
    }

    func signIn(_ email: String = "ann@example.org", _ password: String = password) async throws -> Answer {
        try await send(.post, "/v1/users/sign_in", type: form, "user[email]=\(email)&user[password]=\(password)")
    }

    /// The status of a list of tasks with these header fields.
    func listTasks(_ headers: [String: String], query: String = "") async throws -> Int {
        try await send(.get, "/v1/tasks\(query)", headers: headers).status
    }
}

@Suite struct `Signing up an account` {
    @Test func `a body with a user object signs an account up, as JSON and as a form, without the secret of the app`()
        async throws
    {
        try await TestAPI.with { api in
            let json = #"{"user":{"name":"Ann","email":"ann@example.org","password":"correct horse"}}"#
            let first = try await api.send(.post, "/v1/users", json)
            let body = try #require(
                first.body.wholeMatch(of: /\{"id":1,"authentication_token":"([0-9a-f-]{36})","token":"([0-9a-f-]{36})"\}/))
            #expect((first.status, body.1 == body.2) == (200, true))
            #expect(first.header("humon-position") == "1")
            #expect(first.header("cache-control") == "no-store")
            let token = try await api.signUpAccount("bob@example.org")
            #expect(try await api.listTasks(["tb-auth-token": token]) == 200)
        }
    }

    @Test func `any other body is the device's, byte for byte, with the secret and without it`() async throws {
        let bodies: [String] = [
            "", "{}", "not json", #"{"user":7}"#, #"{"user":[]}"#, #"{"user":null}"#, #"["user"]"#, "user=1", "user[]=1",
        ]
        try await TestAPI.with { api in
            for (number, body) in zip(1..., bodies) {
                for type in ["application/json", form] {
                    let hidden = try await api.send(.post, "/v1/users", type: type, body)
                    #expect((hidden.status, hidden.body) == (404, ""), "\(type): \(body)")
                    let device = try await api.send(
                        .post, "/v1/users", token: "device-\(number)", type: type, body,
                        headers: ["tb-app-secret": TestAPI.secret])
                    #expect(
                        device.body == #"{"id":\#(number),"device_token":"device-\#(number)","auth_token":"device-\#(number)"}"#,
                        "\(type): \(body)")
                }
            }
        }
    }

    @Test func `an address in use is refused whatever its case, and never beside another error`() async throws {
        try await TestAPI.with { api in
            _ = try await api.signUpAccount()
            let taken = try await api.send(
                .post, "/v1/users", type: form, "user[email]=ANN@Example.org&user[password]=correct horse")
            #expect(taken.status == 422)
            #expect(taken.body == #"{"message":"Validation Failed","errors":["Email has already been taken"]}"#)
            let short = try await api.send(.post, "/v1/users", type: form, "user[email]=ann@example.org&user[password]=short")
            #expect(
                short.body
                    == #"{"message":"Validation Failed","errors":["Password is too short (minimum is 8 characters)"]}"#
            )
            let blank = try await api.send(.post, "/v1/users", #"{"user":{}}"#)
            #expect(
                blank.body == #"{"message":"Validation Failed","errors":["Email can't be blank","Password can't be blank"]}"#)
            #expect(try await api.log.tail() == 1)
        }
    }
}

@Suite struct `Signing in and out` {
    private static let wrong = #"{"message":"Invalid email or password"}"#

    @Test func `a sign-in returns one more token under both names, and each token works`() async throws {
        try await TestAPI.with { api in
            let first = try await api.signUpAccount()
            let answer = try await api.signIn("ANN@example.org")
            guard case .string(let second) = answer.json?["token"] else { throw TestAPI.UnexpectedAnswer(answer: answer) }
            #expect(answer.json?["authentication_token"] == .string(second))
            #expect(second != first)
            for token in [first, second] { #expect(try await api.listTasks(["tb-auth-token": token]) == 200) }
        }
    }

    @Test func `a wrong address and a wrong password get the same response`() async throws {
        try await TestAPI.with { api in
            _ = try await api.signUpAccount()
            for (email, password) in [
                ("ann@example.org", "Correct horse"), ("bob@example.org", "correct horse"), ("none", "correct horse"), ("", ""),
            ] {
                let answer = try await api.signIn(email, password)
                #expect((answer.status, answer.body) == (401, Self.wrong))
            }
            for body in ["{}", #"{"user":7}"#, #"{"user":{"email":1,"password":2}}"#] {
                let answer = try await api.send(.post, "/v1/users/sign_in", body)
                #expect((answer.status, answer.body) == (401, Self.wrong))
            }
            let unreadable = try await api.send(.post, "/v1/users/sign_in", "{")
            #expect(unreadable.status == 400)
            #expect(try await api.log.tail() == 1)
        }
    }

    @Test func `a sign-out revokes the token it sends, and no other`() async throws {
        try await TestAPI.with { api in
            let kept = try await api.signUpAccount()
            let signedIn = try await api.signIn()
            guard case .string(let token) = signedIn.json?["token"] else { throw TestAPI.UnexpectedAnswer(answer: signedIn) }
            let answer = try await api.send(.delete, "/v1/users/sign_out.json", #"{"authentication_token":"\#(token)"}"#)
            #expect((answer.status, answer.body) == (200, "{}"))
            #expect(try await api.listTasks(["tb-auth-token": token]) == 401)
            #expect(try await api.listTasks(["tb-auth-token": kept]) == 200)
            let again = try await api.send(.delete, "/v1/users/sign_out", headers: ["authorization": "Bearer \(token)"])
            #expect((again.status, again.body) == (401, ""))
            #expect(try await api.send(.delete, "/v1/users/sign_out").status == 401)
        }
    }

    @Test func `the token comes in each of its places, and a header field counts before the query`() async throws {
        try await TestAPI.with { api in
            let token = try await api.signUpAccount()
            #expect(try await api.listTasks(["tb-auth-token": token]) == 200)
            #expect(try await api.listTasks(["authorization": "Bearer \(token)"]) == 200)
            #expect(try await api.listTasks(["authorization": "bearer \(token)"]) == 200)
            #expect(try await api.listTasks([:], query: "?authentication_token=\(token)") == 200)
            #expect(try await api.listTasks(["tb-auth-token": "unknown"], query: "?authentication_token=\(token)") == 401)
            #expect(try await api.listTasks(["tb-auth-token": ""], query: "?authentication_token=\(token)") == 200)
            for headers in [[:], ["tb-device-token": token], ["authorization": token], ["authorization": "Basic \(token)"]] {
                #expect(try await api.listTasks(headers) == 401)
            }
        }
    }

    @Test func `the query holds a token only where the old client sends it`() async throws {
        try await TestAPI.with { api in
            let token = try await api.signUpAccount()
            let query = "authentication_token=\(token)"
            let created = try await api.send(.post, "/v1/tasks?\(query)", #"{"task":{"title":"Buy milk"}}"#)
            #expect(created.status == 200)
            #expect(try await api.send(.get, "/v1/tasks?\(query)").status == 200)
            for method in [HTTPRequest.Method.put, .patch] {
                let answer = try await api.send(method, "/v1/tasks/1?\(query)", #"{"task":{"title":"Buy tea"}}"#)
                #expect((answer.status, answer.body) == (401, ""), "\(method)")
            }
            #expect(try await api.send(.get, "/v1/tasks?\(query)").body.contains("Buy milk"))
            for path in ["/v1/tasks/1", "/v1/users/sign_out"] {
                #expect(try await api.send(.delete, "\(path)?\(query)").status == 200, "\(path)")
            }
        }
    }

    @Test func `a device token is no account token, and the other way round`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("device")
            #expect(try await api.listTasks(["tb-auth-token": "device"]) == 401)
            let token = try await api.signUpAccount()
            let event = #"{"name":"Party","lat":1,"lon":2,"started_at":"2013-09-16T00:00:00Z"}"#
            #expect(try await api.send(.post, "/v1/events", token: token, event).status == 401)
        }
    }
}

@Suite struct `Changing the password of an account` {
    private static func body(_ current: String, _ new: String) -> String {
        "user[current_password]=\(current)&user[password]=\(new)"
    }

    @Test func `the holder of a token who knows the password changes it, and the other tokens end`() async throws {
        try await TestAPI.with { api in
            let other = try await api.signUpAccount()
            guard case .string(let token) = try await api.signIn().json?["token"] else {
                Issue.record("no token")
                return
            }
            let changed = try await api.send(
                .put, "/v1/users/password.json", type: form,
                Self.body(TestAPI.password, "battery staple") + "&authentication_token=\(token)")
            #expect((changed.status, changed.body) == (200, #"{"id":1}"#))
            #expect(changed.header("humon-position") == "4")
            #expect(try await api.listTasks(["tb-auth-token": token]) == 200)
            #expect(try await api.listTasks(["tb-auth-token": other]) == 401)
            #expect(try await api.signIn().status == 401)
            #expect(try await api.signIn("ann@example.org", "battery staple").status == 200)
        }
    }

    @Test func `a wrong current password and an unusable new one get 422, and nobody without a token gets so far`() async throws {
        try await TestAPI.with { api in
            let token = try await api.signUpAccount()
            func answer(_ body: String, _ token: String) async throws -> String {
                let answer = try await api.send(
                    .put, "/v1/users/password", type: form, body, headers: ["authorization": "Bearer \(token)"])
                return "\(answer.status) \(answer.body)"
            }
            func refusal(_ errors: String) -> String { #"422 {"message":"Validation Failed","errors":[\#(errors)]}"# }
            let blank = #""Current password can't be blank","Password can't be blank""#
            #expect(try await answer("", token) == refusal(blank))
            #expect(
                try await answer(Self.body("wrong", "battery staple"), token) == refusal(#""Current password is invalid""#))
            #expect(
                try await answer(Self.body("wrong", "short"), token)
                    == refusal(#""Password is too short (minimum is 8 characters)""#))
            #expect(try await answer(Self.body(TestAPI.password, "battery staple"), "unknown") == "401 ")
            #expect(try await api.send(.put, "/v1/users/password", type: form, "").status == 401)
            #expect(try await api.signIn().status == 200)
        }
    }

    @Test func `guesses of the current password beyond the limit of the account get 429`() async throws {
        try await TestAPI.with(accountSignInsPerMinute: 2) { api in
            let token = try await api.signUpAccount()
            func change(_ current: String) async throws -> TestAPI.Answer {
                try await api.send(
                    .put, "/v1/users/password", type: form, Self.body(current, "battery staple"),
                    headers: ["authorization": "Bearer \(token)"])
            }
            for _ in 0..<2 { #expect(try await change("wrong").status == 422) }
            let answer = try await change(TestAPI.password)
            #expect(answer.status == 429)
        }
    }
}

@Suite struct `Limiting sign-ins` {
    @Test func `an account's sign-ins beyond the limit get 429 whether or not the account exists`() async throws {
        try await TestAPI.with(accountSignInsPerMinute: 2) { api in
            _ = try await api.signUpAccount()
            for email in ["ann@example.org", "bob@example.org"] {
                for _ in 0..<2 { #expect(try await api.signIn(email, "wrong").status == 401) }
                let answer = try await api.signIn(email.uppercased(), "correct horse")
                #expect((answer.status, answer.body) == (429, #"{"message":"Too Many Requests"}"#))
                #expect(try (1...60).contains(#require(answer.header("retry-after").flatMap { Int($0) })))
            }
        }
    }

    @Test func `a client address's sign-ins and its account sign-ups beyond the limits get 429`() async throws {
        try await TestAPI.with(.live, signInsPerMinute: 2) { api in
            _ = try await api.signUpAccount("a@example.org")
            _ = try await api.signUpAccount("b@example.org")
            let signUp = try await api.send(.post, "/v1/users", type: form, "user[email]=c@example.org&user[password]=12345678")
            #expect(signUp.status == 429)
            #expect(try await api.signIn("a@example.org").status == 200)
            #expect(try await api.signIn("b@example.org").status == 200)
            let signIn = try await api.signIn("a@example.org")
            #expect((signIn.status, signIn.header("retry-after") != nil) == (429, true))
            // Devices and all other requests go on.
            #expect(try await api.signUp("device").status == 200)
        }
    }

    @Test func `a server whose hashing threads are busy answers 503 with Retry-After`() async throws {
        let busy = PasswordHasher(parameters: .weak, threadLimit: 0, queueLimit: 0)
        try await TestAPI.with(hasher: busy) { api in
            let signIn = try await api.signIn()
            #expect((signIn.status, signIn.header("retry-after")) == (503, "1"))
            let signUp = try await api.send(.post, "/v1/users", type: form, "user[email]=a@example.org&user[password]=12345678")
            #expect(signUp.status == 503)
            #expect(try await api.log.tail() == 0)
        }
    }
}

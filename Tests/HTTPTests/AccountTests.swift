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
    func listTasks(_ headers: [String: String]) async throws -> Int {
        try await send(.get, "/v1/tasks", headers: headers).status
    }
}

@Suite struct `Changing the password of an account` {
    private static func body(_ current: String, _ new: String) -> String {
        "user[current_password]=\(current)&user[password]=\(new)"
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

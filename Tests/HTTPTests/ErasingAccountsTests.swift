import Accounts
import Encoding
import EventStore
import Foundation
import HTTPTypes
import Hashing
import Postgres
import TestDatabase
import TestHTTP
import Testing

@testable import HTTP

extension TestAPI {
    /// Asks to erase an account.
    fileprivate func eraseAccount(_ token: String) async throws -> Answer {
        try await send(
            .delete, "/v1/accounts/me", type: form, "user[current_password]=\(Self.password)",
            headers: ["authorization": "Bearer \(token)"])
    }

    fileprivate func createTask(_ token: String, _ title: String, key: String? = nil) async throws -> Answer {
        var headers = ["authorization": "Bearer \(token)"]
        headers["idempotency-key"] = key
        return try await send(.post, "/v1/tasks", #"{"task":{"title":"\#(title)"}}"#, headers: headers)
    }
}

@Suite struct `Erasing an account over HTTP` {
    private static let email = "zyzzyva@example.org"
    /// The words of an account, each of which occurs nowhere else.
    private static let words = ["Quizzaciously", email, "Wabbajack", "Flibbertigibbet", "Gardyloo"]

    /// An account with two tokens, and with a changed, a completed and a deleted task.
    private static func populate(_ api: TestAPI) async throws -> [String] {
        let signUp = try await api.send(
            .post, "/v1/users", type: form, "user[name]=Quizzaciously&user[email]=\(email)&user[password]=\(TestAPI.password)")
        var tokens: [String] = []
        for answer in [signUp, try await api.signIn(email)] {
            guard case .string(let token)? = answer.json?["token"] else { throw TestAPI.UnexpectedAnswer(answer: answer) }
            tokens.append(token)
        }
        for (number, title) in ["Wabbajack", "Tea", "Gardyloo"].enumerated() {
            #expect(try await api.createTask(tokens[0], title, key: "key-\(number)").status == 200)
        }
        for (method, path, body) in [
            (HTTPRequest.Method.put, "/v1/tasks/1", #"{"task":{"title":"Flibbertigibbet"}}"#),
            (.put, "/v1/tasks/2", #"{"task":{"completed":true}}"#), (.delete, "/v1/tasks/3", ""),
        ] {
            let answer = try await api.send(method, path, body, headers: ["authorization": "Bearer \(tokens[1])"])
            #expect(answer.status == 200, "\(answer.body)")
        }
        return tokens
    }

    @Test(.api())
    func `after the response nothing shows the account, and its address signs up again as another one`() async throws {
        let tokens = try await Self.populate(api)
        let other = try await api.signUpAccount("other@example.org")
        #expect(try await api.createTask(other, "Chess").status == 200)
        let secrets = Self.words + tokens.map { SHA256.hash($0.utf8).hexadecimal }
        let before = try await `Erasing a user over HTTP`.contents(api.database)
        for secret in secrets { #expect(before.contains(secret), "\(secret)") }

        let answer = try await api.send(
            .delete, "/v1/accounts/me.json", #"{"user":{"current_password":"\#(TestAPI.password)"}}"#,
            headers: ["tb-auth-token": tokens[0]])
        #expect((answer.status, answer.body) == (200, "{}"))
        for token in tokens {
            #expect(try await api.listTasks(["tb-auth-token": token]) == 401)
            #expect(try await api.createTask(token, "Late").status == 401)
            #expect(try await api.eraseAccount(token).status == 401)
        }
        let refused = try await api.signIn(Self.email)
        #expect((refused.status, refused.body) == (401, #"{"message":"Invalid email or password"}"#))
        #expect(try await api.listTasks(["tb-auth-token": other]) == 200)

        let after = try await `Erasing a user over HTTP`.contents(api.database)
        for secret in secrets { #expect(!after.contains(secret), "\(secret)") }
        #expect(after.contains("Chess"))
        try await api.database.withClient { client async throws in
            let ends = try await client.query(
                "SELECT stream FROM log.recorded_events WHERE type LIKE '%Erased' ORDER BY 1"
            ).decode(String.self)
            #expect(ends == ["account-1", "task-1", "task-2", "task-3"])
            let commands = try await client.query("SELECT FROM log.commands").count
            #expect(commands == 0)
        }

        let again = try await api.signUpAccount(Self.email)
        #expect(try await api.send(.get, "/v1/tasks", headers: ["tb-auth-token": again]).body == "[]")
    }

    @Test(.api()) func `an address signs up after each erasure, and never beside a living account`() async throws {
        for _ in 0..<20 {
            let token = try await api.signUpAccount()
            let taken = try await api.send(
                .post, "/v1/users", type: form, "user[email]=Ann@example.org&user[password]=\(TestAPI.password)")
            #expect(taken.body == #"{"message":"Validation Failed","errors":["Email has already been taken"]}"#)
            #expect(try await api.eraseAccount(token).status == 200)
        }
        let ids = try await api.log.read(after: 0, limit: 100).map(\.envelope).filter { $0.event.type == "AccountCreated" }
        #expect(Set(ids.map(\.stream)).count == 20)
        // Nobody can test a guess of the address without the database.
        #expect(!ids.map(\.id).contains(UUID(derivedFrom: "account ann@example.org")))
    }

    @Test(.api()) func `no task that is written meanwhile survives the erasure`() async throws {
        let token = try await api.signUpAccount()
        // Each writes on until the erasure stops it.
        let last = try await withThrowingTaskGroup(of: Int.self) { group in
            for writer in 0..<6 {
                group.addTask {
                    for number in 0..<150 {
                        let key = number.isMultiple(of: 2) ? nil : "key-\(writer)-\(number)"
                        let status = try await api.createTask(token, "Party", key: key).status
                        if status != 200 { return status }
                    }
                    return 200
                }
            }
            try await eventually {
                try await api.database.withClient { try await $0.query("SELECT FROM tasks_v1.tasks LIMIT 1").count } == 1
            }
            #expect(try await api.eraseAccount(token).status == 200)
            return try await group.reduce(into: [Int]()) { $0.append($1) }
        }
        #expect(last == [Int](repeating: 401, count: 6))
        try await api.database.withClient { client async throws in
            let left = try await client.query("SELECT count(*) FROM log.recorded_events WHERE personal::text <> '{}'").decode(
                Int64.self)
            #expect(left == [0])
            for table in ["tasks_v1.tasks", "accounts_v1.accounts", "accounts_v1.account_tokens", "log.commands"] {
                let rows = try await client.query("SELECT count(*) FROM \(SQL(unsafeText: table))").decode(Int64.self)
                #expect(rows == [0], "\(table)")
            }
        }
    }

    @Test(.api(apps: [.tasks]))
    func `an erasure that takes longer has an address, which needs no token and tells of the end`() async throws {
        let token = try await api.signUpAccount()
        let position = try await api.log.tail() + 1
        try await api.database.withClient { client async throws in
            try await client.query(
                """
                INSERT INTO log.parked_streams (subscription, stream, version, position, reason)
                VALUES ('erasures', 'nobody-1', 1, \(position), 'unknown')
                """)
            let answer = try await api.eraseAccount(token)
            #expect((answer.status, answer.body, answer.header("retry-after")) == (202, "{}", "1"))
            let address = try #require(answer.header("location"))
            #expect(try await api.send(.get, address).body == #"{"state":"erasing"}"#)
            try await client.query("DELETE FROM log.parked_streams")
            try await eventually { try await api.send(.get, address).body == #"{"state":"erased"}"# }
        }
    }
}

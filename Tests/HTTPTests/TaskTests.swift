import Encoding
import EventStore
import HTTPTypes
import TestHTTP
import Testing

@testable import HTTP

@Suite struct `The to-do app` {
    /// The requests of the app's client in its order: forms, `.json`, the token in the query and in the body, truth values as 1 and 0.
    @Test func `the app's client signs up, creates, completes, reopens and lists tasks, and signs in again`() async throws {
        try await TestAPI.with(.live) { api in
            func send(_ method: HTTPRequest.Method, _ path: String, _ body: String) async throws -> TestAPI.Answer {
                try await api.send(
                    method, path, headers: ["accept": "application/json", "content-type": "\(form); charset=utf-8"],
                    bytes: Array(body.utf8))
            }
            let user = "user%5Bemail%5D=ann%40example.org&user%5Bpassword%5D=correct%20horse"
            let signUp = try await send(.post, "/v1/users.json", "user%5Bname%5D=Ann&" + user)
            guard case .string(let token) = signUp.json?["authentication_token"] else {
                throw TestAPI.UnexpectedAnswer(answer: signUp)
            }
            let own = "authentication_token=\(token)"
            let empty = try await api.send(.get, "/v1/tasks.json?\(own)", headers: ["accept": "application/json"])
            #expect((empty.status, empty.body) == (200, "[]"))
            let created = try await send(.post, "/v1/tasks.json?\(own)", "\(own)&task%5Btitle%5D=Buy%20milk")
            #expect((created.status, created.body) == (200, #"{"id":1,"title":"Buy milk","completed":false}"#))
            _ = try await send(.post, "/v1/tasks.json?\(own)", "\(own)&task%5Btitle%5D=Wash+the+car")
            let completed = try await send(.put, "/v1/tasks/1.json", "\(own)&task%5Bcompleted%5D=1")
            #expect((completed.status, completed.body) == (200, #"{"id":1,"title":"Buy milk","completed":true}"#))
            let list = try await api.send(.get, "/v1/tasks.json?\(own)", headers: ["accept": "application/json"])
            #expect(
                list.body
                    == #"[{"id":1,"title":"Buy milk","completed":true},{"id":2,"title":"Wash the car","completed":false}]"#)
            #expect(list.header("content-type")?.hasPrefix("application/json") == true)
            let reopened = try await send(
                .put, "/v1/tasks/1.json", "\(own)&task%5Bcompleted%5D=0&task%5Btitle%5D=Buy%20tea")
            #expect(reopened.body == #"{"id":1,"title":"Buy tea","completed":false}"#)
            let signIn = try await send(.post, "/v1/users/sign_in.json", user)
            guard case .string(let second) = signIn.json?["token"] else { throw TestAPI.UnexpectedAnswer(answer: signIn) }
            let deleted = try await send(.delete, "/v1/tasks/2.json", "authentication_token=\(second)")
            #expect((deleted.status, deleted.body) == (200, "{}"))
            let rest = try await api.send(.get, "/v1/tasks?authentication_token=\(second)")
            #expect(rest.body == #"[{"id":1,"title":"Buy tea","completed":false}]"#)
        }
    }
}

@Suite struct `Requests about tasks` {
    /// Two accounts, the first with one task.
    private static func with(
        writesPerMinute: Int = 0, _ body: @escaping @Sendable (TestAPI, _ ann: String, _ bob: String) async throws -> Void
    ) async throws {
        try await TestAPI.with(writesPerMinute: writesPerMinute) { api in
            let ann = try await api.signUpAccount()
            let bob = try await api.signUpAccount("bob@example.org")
            _ = try await Self.send(api, .post, "/v1/tasks", ann, #"{"task":{"title":"Buy milk"}}"#)
            try await body(api, ann, bob)
        }
    }

    private static func send(
        _ api: TestAPI, _ method: HTTPRequest.Method, _ path: String, _ token: String?, _ body: String = "",
        headers: [String: String] = [:]
    ) async throws -> TestAPI.Answer {
        var headers = headers
        if let token { headers["authorization"] = "Bearer \(token)" }
        return try await api.send(method, path, body, headers: headers)
    }

    @Test func `another account's task answers as one that does not exist`() async throws {
        try await Self.with { api, ann, bob in
            #expect(try await Self.send(api, .get, "/v1/tasks", bob).body == "[]")
            for path in ["/v1/tasks/1", "/v1/tasks/999", "/v1/tasks/x"] {
                for method in [.put, .patch, .delete] as [HTTPRequest.Method] {
                    let answer = try await Self.send(api, method, path, bob, #"{"task":{"completed":true}}"#)
                    #expect((answer.status, answer.body) == (404, notFound), "\(method) \(path)")
                }
            }
            let list = try await Self.send(api, .get, "/v1/tasks", ann)
            #expect(list.body == #"[{"id":1,"title":"Buy milk","completed":false}]"#)
        }
    }

    @Test func `a request without a token and one with an unknown token get an empty 401, after the fields`() async throws {
        try await Self.with { api, _, _ in
            for token in [nil, "unknown"] {
                for (method, path) in [
                    (.get, "/v1/tasks"), (.post, "/v1/tasks"), (.put, "/v1/tasks/1"), (.patch, "/v1/tasks/1"),
                    (.delete, "/v1/tasks/1"),
                ] as [(HTTPRequest.Method, String)] {
                    let answer = try await Self.send(api, method, path, token, #"{"task":{"title":"Buy tea"}}"#)
                    #expect((answer.status, answer.body) == (401, ""), "\(method) \(path)")
                }
            }
            #expect(try await Self.send(api, .post, "/v1/tasks", "unknown", "{}").status == 422)
            #expect(try await Self.send(api, .post, "/v1/tasks", nil, "{}").status == 401)
            #expect(try await Self.send(api, .post, "/v1/tasks", nil, "{").status == 400)
        }
    }

    @Test func `fields that cannot be used get 422 with all sentences`() async throws {
        try await Self.with { api, ann, _ in
            let blank = try await Self.send(api, .post, "/v1/tasks", ann, #"{"task":{"title":" "}}"#)
            #expect((blank.status, blank.body) == (422, #"{"message":"Validation Failed","errors":["Title can't be blank"]}"#))
            let both = try await Self.send(api, .put, "/v1/tasks/1", ann, #"{"task":{"title":7,"completed":"maybe"}}"#)
            #expect(
                both.body
                    == #"{"message":"Validation Failed","errors":["Title is not a text","Completed is not true or false"]}"#)
            #expect(both.status == 422)
        }
    }

    @Test func `a change whose task is no object gets 400`() async throws {
        try await Self.with { api, ann, _ in
            for task in ["[null,null]", "null", "7", #""x""#] {
                for method in [HTTPRequest.Method.put, .patch] {
                    let answer = try await Self.send(api, method, "/v1/tasks/1", ann, #"{"task":\#(task)}"#)
                    #expect(
                        (answer.status, answer.body) == (400, #"{"message":"The task is not an object"}"#), "\(method) \(task)")
                }
            }
        }
    }

    @Test func `a change without fields answers the task, and a task that is as wanted is not recorded again`() async throws {
        try await Self.with { api, ann, _ in
            let before = try await api.log.tail()
            for body in ["", "{}", #"{"task":{"completed":false,"title":"Buy milk"}}"#] {
                let answer = try await Self.send(api, .patch, "/v1/tasks/1", ann, body)
                #expect((answer.status, answer.body) == (200, #"{"id":1,"title":"Buy milk","completed":false}"#))
                #expect(answer.header("humon-position") == String(before))
            }
            #expect(try await api.log.tail() == before)
        }
    }

    @Test func `a repeated creation under one idempotency key creates one task`() async throws {
        try await Self.with { api, ann, _ in
            let body = #"{"task":{"title":"Call Bob"}}"#
            let first = try await Self.send(api, .post, "/v1/tasks", ann, body, headers: ["idempotency-key": "1"])
            let second = try await Self.send(api, .post, "/v1/tasks", ann, body, headers: ["idempotency-key": "1"])
            #expect((first.status, second.status, first.body) == (200, 200, second.body))
            let other = try await Self.send(
                api, .post, "/v1/tasks", ann, #"{"task":{"title":"Call Ann"}}"#, headers: ["idempotency-key": "1"])
            #expect(other.status == 422)
            let list = try await Self.send(api, .get, "/v1/tasks", ann)
            #expect(
                list.body
                    == #"[{"id":1,"title":"Buy milk","completed":false},{"id":2,"title":"Call Bob","completed":false}]"#)
        }
    }

    @Test(arguments: [HTTPRequest.Method.put, .patch])
    func `a repeated change under one idempotency key gets the first response`(method: HTTPRequest.Method) async throws {
        try await Self.with { api, ann, _ in
            let key = ["idempotency-key": "1"]
            func change(_ body: String, headers: [String: String] = [:]) async throws -> TestAPI.Answer {
                try await Self.send(api, method, "/v1/tasks/1", ann, body, headers: headers)
            }
            let first = try await change(#"{"task":{"completed":true}}"#, headers: key)
            #expect((first.status, first.body) == (200, #"{"id":1,"title":"Buy milk","completed":true}"#))
            _ = try await change(#"{"task":{"completed":false,"title":"Buy tea"}}"#)
            let second = try await change(#"{"task":{"completed":true}}"#, headers: key)
            #expect((second.status, second.body) == (200, first.body))
            #expect(second.header("humon-position") == first.header("humon-position"))
            #expect(try await change(#"{"task":{"completed":false}}"#, headers: key).status == 422)
            let list = try await Self.send(api, .get, "/v1/tasks", ann)
            #expect(list.body == #"[{"id":1,"title":"Buy tea","completed":false}]"#)
        }
    }

    @Test func `a repeated deletion under one idempotency key gets the first response`() async throws {
        try await Self.with { api, ann, _ in
            for _ in 0..<2 {
                let answer = try await Self.send(api, .delete, "/v1/tasks/1", ann, headers: ["idempotency-key": "1"])
                #expect((answer.status, answer.body) == (200, "{}"))
            }
            #expect(try await Self.send(api, .delete, "/v1/tasks/1", ann).status == 404)
        }
    }

    @Test(arguments: [
        (form, "task%5Btitle%5D=Done&task%5Bcompleted%5D=1"),
        ("application/json", #"{"task":{"title":"Done","completed":true}}"#),
    ])
    func `a task may be completed from the start`(type: String, body: String) async throws {
        try await Self.with { api, ann, _ in
            let answer = try await api.send(
                .post, "/v1/tasks", type: type, body, headers: ["authorization": "Bearer \(ann)"])
            #expect((answer.status, answer.body) == (200, #"{"id":2,"title":"Done","completed":true}"#))
            let list = try await Self.send(api, .get, "/v1/tasks", ann)
            #expect(list.body == #"[{"id":1,"title":"Buy milk","completed":false},{"id":2,"title":"Done","completed":true}]"#)
        }
    }

    @Test func `the limit of writes counts an account's writes`() async throws {
        try await Self.with(writesPerMinute: 2) { api, ann, bob in
            #expect(try await Self.send(api, .put, "/v1/tasks/1", ann).status == 200)
            let refused = try await Self.send(api, .put, "/v1/tasks/1", ann)
            #expect((refused.status, refused.header("retry-after") != nil) == (429, true))
            #expect(try await Self.send(api, .post, "/v1/tasks", bob, #"{"task":{"title":"Call Ann"}}"#).status == 200)
        }
    }
}

import Encoding
import EventStore
import HTTPTypes
import Testing

@testable import HTTP

/// Commands are sent twice under one idempotency key.
@Suite struct `Repeating a command` {
    static let details = #"{"name":"Party","lat":1.5,"lon":2.5,"started_at":"2014-01-01T00:00:00Z"}"#
    static let reused =
        #"{"message":"Validation Failed","errors":["Idempotency-Key was used for another request"]}"#

    @Test func `a repeated creation creates one event and gets the first response`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let first = try await api.send(.post, "/v1/events", token: "owner", key: "k1", Self.details)
            let second = try await api.send(.post, "/v1/events", token: "owner", key: "k1", Self.details)
            let other = try await api.send(.post, "/v1/events", token: "owner", key: "k2", Self.details)
            #expect((first.status, first.body) == (200, #"{"id":1}"#))
            #expect((second.status, second.body) == (200, #"{"id":1}"#))
            #expect(other.body != first.body)
            #expect(try await api.log.tail() == 3)
        }
    }

    @Test func `a key in quotes equals the key without`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let bare = try await api.send(.post, "/v1/events", token: "owner", key: #"a"b\c"#, Self.details)
            let quoted = try await api.send(.post, "/v1/events", token: "owner", key: #""a\"b\\c""#, Self.details)
            #expect(bare.status == 200)
            #expect(quoted.body == bare.body)
            let more = try await api.send(.post, "/v1/events", token: "owner", key: #""a\"b\\c";v=1"#, Self.details)
            #expect(more.body == bare.body)
        }
    }

    @Test func `concurrent repetitions create one event`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let bodies = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<40 {
                    group.addTask { try await api.send(.post, "/v1/events", token: "owner", key: "k", Self.details).body }
                }
                return try await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(bodies.count == 1)
            #expect(try await api.log.tail() == 2, "doubled write")
        }
    }

    @Test func `a key reused for another body, path, method or format gets 422`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let path = "/v1/events/\(id)"
            #expect(try await api.send(.put, path, token: "owner", key: "k", Self.details).status == 200)
            let form = "name=Party&lat=1.5&lon=2.5&started_at=2014-01-01T00:00:00Z"
            let answers = [
                try await api.send(.put, path, token: "owner", key: "k", Self.details + " "),
                try await api.send(.patch, path, token: "owner", key: "k", Self.details),
                try await api.send(.put, path, token: "owner", type: mergePatch, key: "k", Self.details),
                try await api.send(.put, path, token: "owner", type: HTTPTests.form, key: "k", form),
                try await api.send(.post, "/v1/events", token: "owner", key: "k", Self.details),
                try await api.send(.post, "/v1/attendances", token: "owner", key: "k", #"{"event":{"id":\#(id)}}"#),
            ]
            #expect(answers.map(\.status) == Array(repeating: 422, count: answers.count))
            #expect(Set(answers.map(\.body)) == [Self.reused])
            #expect(try await api.log.tail() == 3)
        }
    }

    @Test func `a repeated update gets the first response, although the event has changed since`() async throws {
        try await TestAPI.with { api in
            let id = try await api.createEvent("owner")
            let path = "/v1/events/\(id)"
            let tag = try #require(try await api.tag(path))
            let first = try await api.send(
                .patch, path, token: "owner", type: mergePatch, #"{"name":"First"}"#,
                headers: ["idempotency-key": "k", "if-match": tag]
            )
            #expect((first.status, first.body) == (200, #"{"id":1}"#))
            #expect(try await api.send(.patch, path, token: "owner", type: mergePatch, #"{"name":"Second"}"#).status == 200)
            let again = try await api.send(
                .patch, path, token: "owner", type: mergePatch, #"{"name":"First"}"#,
                headers: ["idempotency-key": "k", "if-match": tag]
            )
            #expect((again.status, again.body) == (200, #"{"id":1}"#))
            #expect(try await api.send(.get, path).json?["name"] == "Second")
        }
    }

    @Test func `a late repetition of a command that changed nothing undoes no later command`() async throws {
        let cases: [(before: [HTTPRequest.Method], repeated: HTTPRequest.Method, later: HTTPRequest.Method)] = [
            ([], .delete, .put), ([.put, .delete], .delete, .put), ([.put], .put, .delete),
        ]
        try await TestAPI.with { api in
            for (before, repeated, later) in cases {
                let id = try await api.createEvent("owner")
                let path = "/v1/events/\(id)/attendance"
                func send(_ method: HTTPRequest.Method, key: String) async throws -> TestAPI.Answer {
                    try await api.send(method, path, token: "owner", headers: ["idempotency-key": "\(id)-\(key)"])
                }
                for (number, method) in before.enumerated() {
                    #expect(try await send(method, key: "\(number)").status == 200, "\(before) \(repeated) \(later)")
                }
                #expect(try await send(repeated, key: "k").body == "{}", "\(before) \(repeated) \(later)")
                #expect(try await send(later, key: "j").status == 200, "\(before) \(repeated) \(later)")
                let shown = try await api.send(.get, path, token: "owner").body
                let tail = try await api.log.tail()
                for _ in 0..<2 {
                    let answer = try await send(repeated, key: "k")
                    #expect((answer.status, answer.body) == (200, "{}"), "\(before) \(repeated) \(later)")
                }
                #expect(try await api.send(.get, path, token: "owner").body == shown, "\(before) \(repeated) \(later)")
                #expect(try await api.log.tail() == tail, "\(before) \(repeated) \(later)")
                let other = try await send(later, key: "k")
                #expect((other.status, other.body) == (422, Self.reused), "\(before) \(repeated) \(later)")
            }
        }
    }

    @Test func `the same key of another user is another command`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("one")
            try await api.signUp("two")
            let first = try await api.send(.post, "/v1/events", token: "one", key: "k", Self.details)
            let second = try await api.send(.post, "/v1/events", token: "two", key: "k", Self.details)
            #expect(first.status == 200)
            #expect(second.status == 200)
            #expect(first.body != second.body)
        }
    }

    @Test func `a refused command is decided again when it is repeated`() async throws {
        try await TestAPI.with { api in
            try await api.signUp("owner")
            let body = #"{"event":{"id":1}}"#
            #expect(try await api.send(.post, "/v1/attendances", token: "owner", key: "k", body).status == 404)
            _ = try await api.createEvent("owner")
            #expect(try await api.send(.post, "/v1/attendances", token: "owner", key: "k", body).status == 200)
        }
    }

    @Test func `exactly the keys that the OpenAPI document allows are accepted`() async throws {
        let schema = OpenAPIDocument.json["components"]?["parameters"]?["IdempotencyKey"]?["schema"]
        let pattern = try Regex(#require(schema?["pattern"]?.string))
        let (longest, quote) = (String(repeating: "k", count: 255), "\\\"")
        let keys = [
            "k", "!", "~", "'", "a\"b", "a\\b", "(a)", "a-b", longest, longest + "k", "", "a b", "a,b", ",", "é", "\u{7F}",
            #""k""#, #"" ""#, #""a,b""#, #""é""#, #""k";p=1"#, #""k"; p"#, #""k" ;p"#, #""k"p"#, #""k"#, #"""#, #"""""#, #""\""#,
            #""\\""#, #""a\b""#, "\"\(longest)\"", "\"\(longest)k\"", "\"\(String(repeating: quote, count: 255))\"",
        ]
        let expected = try keys.map { (key: $0, status: try pattern.wholeMatch(in: $0) == nil ? 400 : 200) }
        try await TestAPI.with { api in
            try await api.signUp("owner")
            for (key, status) in expected {
                let answer = try await api.send(.post, "/v1/events", token: "owner", key: key, Self.details)
                #expect(answer.status == status, "\(key)")
            }
        }
    }
}

extension TestAPI {
    fileprivate func send(
        _ method: HTTPRequest.Method, _ path: String, token: String, type: String = "application/json", key: String?,
        _ body: String
    ) async throws -> Answer {
        try await send(method, path, token: token, type: type, body, headers: key.map { ["idempotency-key": $0] } ?? [:])
    }
}
